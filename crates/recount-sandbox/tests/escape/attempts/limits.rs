//! Resources. The limits are those of [`World::limits`](crate::escape::world::World::limits).

use super::Attempt;
use super::Scope::Full;
use super::Sign::Output;

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("limit-processes", Output, &["$TOOL fork 450"]).scope(Full),
    Attempt::new("limit-memory", Output, &["$TOOL allocate 320"]),
    Attempt::new("limit-tmp", Output, &["$TOOL fill /tmp/big-$N 24"]).scope(Full),
    Attempt::new("limit-tmp-in-pieces", Output, &["mkdir /tmp/p-$N; for i in 1 2 3; do head -c 8M /dev/zero > /tmp/p-$N/$i || x=1; done; rm -r /tmp/p-$N; [ $x ] || echo ESCAPED"])
        .scope(Full),
    Attempt::new("limit-tmp-files", Output, &["mkdir /tmp/i-$N; $TOOL fill-inodes /tmp/i-$N 2200; rm -rf /tmp/i-$N"]).scope(Full),
    Attempt::new("limit-shm", Output, &["$TOOL fill /dev/shm/big-$N 24"]).scope(Full),
    Attempt::new("limit-shm-and-tmp", Output, &["$TOOL fill /dev/shm/s-$N 9 > /tmp/a-$N; head -c 9M /dev/zero > /tmp/t-$N && head -c 9M /dev/zero > /dev/shm/t-$N && echo ESCAPED; rm -f /tmp/?-$N /dev/shm/?-$N"])
        .scope(Full),
    Attempt::new("limit-file-size", Output, &["$TOOL fill $WS/huge 24 || $TOOL fill /tmp/huge-$N 24"]),
    Attempt::new("limit-open-files", Output, &["$TOOL open-many 300"]),
    Attempt::new("limit-cpu", Output, &["$TOOL burn 2"]),
    Attempt::new("limit-raised", Output, &["ulimit -Hn 20000 && ulimit -n 20000 && $TOOL open-many 15000"])
        .needs(&["user may raise limits"]),
    Attempt::new("limit-other-file-system", Output, &["for d in / /dev /run /var /proc /sys /home /root; do $TOOL create-in $d; done"])
        .needs(&["user is root"]),
];
