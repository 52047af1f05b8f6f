// System calls that no shell command makes. Prints `ESCAPED`, or the secret that it has read, if an attempt succeeds.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// The program is linked at a fixed address, so that these are at the same place in every process of it.
static char secret[128];
static char scratch[128];

static char *marker_of_victim;

static int escaped(void) {
    puts("ESCAPED");
    return 0;
}

static int blocked(const char *step) {
    printf("blocked: %s: %s\n", step, strerror(errno));
    return 1;
}

static int result(const char *step, long value) { return value < 0 ? blocked(step) : escaped(); }

static int show(int fd) {
    char text[4096];
    long length = pread(fd, text, sizeof text, 0);
    if (length < 0) length = read(fd, text, sizeof text);
    if (length < 0) return blocked("read");
    fwrite(text, 1, length, stdout);
    puts("");
    return 0;
}

static void on_signal(int number) {
    (void)number;
    close(open(marker_of_victim, O_CREAT | O_WRONLY, 0600));
}

// victim SECRET MARKER QUEUE: waits for attacks, with the secret in its memory, shared memory and a message queue.
static int victim(char **arguments) {
    strncpy(secret, arguments[0], sizeof secret - 1);
    marker_of_victim = arguments[1];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGURG, &action, NULL);
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    char *shared = shmat(id, NULL, 0);
    if (shared != (char *)-1) strcpy(shared, secret);
    // It lasts as long as this process, and can be attached all the same.
    shmctl(id, IPC_RMID, NULL);
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 128};
    mqd_t queue = mq_open(arguments[2], O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
    if (queue >= 0) mq_send(queue, secret, strlen(secret) + 1, 0);
    printf("%d\n", id);
    fflush(stdout);
    while (1) pause();
    return 0;
}

static int peek(pid_t pid, int is_memory_file) {
    char text[sizeof secret] = {0};
    if (is_memory_file) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", pid);
        int fd = open(path, O_RDONLY);
        if (fd < 0) return blocked("open mem");
        if (pread(fd, text, sizeof text, (off_t)(uintptr_t)secret) < 0) return blocked("read mem");
    } else {
        struct iovec here = {text, sizeof text}, there = {secret, sizeof secret};
        if (process_vm_readv(pid, &here, 1, &there, 1, 0) < 0) return blocked("process_vm_readv");
    }
    puts(text);
    return 0;
}

static int poke(pid_t pid, int is_memory_file) {
    if (is_memory_file) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", pid);
        int fd = open(path, O_RDWR);
        if (fd < 0) return blocked("open mem");
        return result("write mem", pwrite(fd, "x", 1, (off_t)(uintptr_t)scratch));
    }
    struct iovec here = {"x", 1}, there = {scratch, 1};
    return result("process_vm_writev", process_vm_writev(pid, &here, 1, &there, 1, 0));
}

static int take_descriptor(pid_t pid, int number) {
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) return blocked("pidfd_open");
    long fd = syscall(SYS_pidfd_getfd, pidfd, number, 0);
    return fd < 0 ? blocked("pidfd_getfd") : show(fd);
}

static int signal_by_pidfd(pid_t pid) {
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) return blocked("pidfd_open");
    return result("pidfd_send_signal", syscall(SYS_pidfd_send_signal, pidfd, SIGURG, NULL, 0));
}

static int change_limit(pid_t pid) {
    struct rlimit now;
    if (syscall(SYS_prlimit64, pid, RLIMIT_CORE, NULL, &now) < 0) return blocked("prlimit");
    return result("prlimit", syscall(SYS_prlimit64, pid, RLIMIT_CORE, &now, NULL));
}

static int change_affinity(pid_t pid) {
    cpu_set_t cpus;
    if (sched_getaffinity(pid, sizeof cpus, &cpus) < 0) return blocked("sched_getaffinity");
    return result("sched_setaffinity", sched_setaffinity(pid, sizeof cpus, &cpus));
}

static int change_scheduler(pid_t pid) {
    struct sched_param parameters = {0};
    return result("sched_setscheduler", sched_setscheduler(pid, SCHED_OTHER, &parameters));
}

static int read_queue(const char *name) {
    mqd_t queue = mq_open(name, O_RDWR);
    if (queue < 0) return blocked("mq_open");
    char text[128] = {0};
    if (mq_receive(queue, text, sizeof text, NULL) < 0) return blocked("mq_receive");
    mq_send(queue, text, strlen(text) + 1, 0);
    puts(text);
    return 0;
}

enum { SEARCH = 10, READ = 11, UNLINK = 9, USER_KEYRING = -4 };

static int read_key(const char *name, int is_requested) {
    long key = is_requested ? syscall(SYS_request_key, "user", name, NULL, 0)
                            : syscall(SYS_keyctl, SEARCH, USER_KEYRING, "user", name, 0);
    if (key < 0) return blocked("find key");
    char text[128] = {0};
    if (syscall(SYS_keyctl, READ, key, text, sizeof text - 1) < 0) return blocked("read key");
    puts(text);
    return 0;
}

static int add_key(const char *name, const char *value) {
    return syscall(SYS_add_key, "user", name, value, strlen(value), USER_KEYRING) < 0;
}

static int remove_key(const char *name) {
    long key = syscall(SYS_keyctl, SEARCH, USER_KEYRING, "user", name, 0);
    return key < 0 ? 1 : (int)syscall(SYS_keyctl, UNLINK, key, USER_KEYRING);
}

static void write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) perror(path);
    close(fd);
}

// A user other than root needs a user namespace to mount.
static void become_mounter(void) {
    char user[64], group[64];
    snprintf(user, sizeof user, "0 %d 1", geteuid());
    snprintf(group, sizeof group, "0 %d 1", getegid());
    if (unshare(CLONE_NEWNS) < 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return perror("unshare");
        write_text("/proc/self/setgroups", "deny");
        write_text("/proc/self/uid_map", user);
        write_text("/proc/self/gid_map", group);
    }
    mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int read_beneath(int directory, const char *file) {
    int fd = openat(directory, file, O_RDONLY);
    return fd < 0 ? blocked("openat") : show(fd);
}

static int clone_tree(const char *directory, const char *file) {
    become_mounter();
    long tree = syscall(SYS_open_tree, AT_FDCWD, directory, 1 | AT_RECURSIVE);
    if (tree < 0) tree = syscall(SYS_open_tree, AT_FDCWD, directory, 1);
    return tree < 0 ? blocked("open_tree") : read_beneath(tree, file);
}

static int set_writable(const char *path) {
    become_mounter();
    struct {
        uint64_t set, clear, propagation, userns;
    } attributes = {.clear = 1};
    long done = syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes);
    int fd = open(path, O_TMPFILE | O_RDWR, 0600);
    if (done < 0) perror("mount_setattr");
    return result("write", fd);
}

static int leave_chroot(const char *file) {
    if (geteuid() != 0) unshare(CLONE_NEWUSER);
    char directory[] = "/tmp/jail-XXXXXX";
    if (!mkdtemp(directory)) return blocked("mkdtemp");
    int failed = chroot(directory) < 0;
    if (failed) {
        rmdir(directory);
        return blocked("chroot");
    }
    for (int i = 0; i < 64; i++)
        if (chdir("..") < 0) break;
    if (chroot(".") < 0) return blocked("chroot back");
    rmdir(directory);
    return read_beneath(AT_FDCWD, file);
}

static int change_root(void) {
    become_mounter();
    char directory[] = "/tmp/root-XXXXXX";
    if (!mkdtemp(directory)) return blocked("mkdtemp");
    int failed = mount("tmpfs", directory, "tmpfs", 0, NULL) < 0 || chdir(directory) < 0 || mkdir("old", 0700) < 0 ||
                 syscall(SYS_pivot_root, ".", "old") < 0;
    int error = errno;
    // The directory is on the file system of the old root.
    char path[64];
    snprintf(path, sizeof path, "old%s", directory);
    rmdir(failed ? directory : path);
    errno = error;
    return failed ? blocked("pivot_root") : escaped();
}

static int open_handle(const char *mount, const char *file, int is_guessed) {
    struct {
        struct file_handle handle;
        unsigned char bytes[128];
    } wanted = {.handle = {.handle_bytes = 128}};
    int on = open(mount, O_RDONLY | O_DIRECTORY);
    if (on < 0) return blocked("open");
    if (is_guessed) {
        // The root directory of an ext4 file system.
        uint32_t root[2] = {2, 0};
        wanted.handle.handle_bytes = 8;
        wanted.handle.handle_type = 1;
        memcpy(wanted.handle.f_handle, root, sizeof root);
    } else {
        int mount_id;
        if (name_to_handle_at(AT_FDCWD, file, &wanted.handle, &mount_id, 0) < 0) return blocked("name_to_handle_at");
    }
    int fd = open_by_handle_at(on, &wanted.handle, O_RDONLY);
    if (fd < 0) return blocked("open_by_handle_at");
    return is_guessed ? escaped() : show(fd);
}

// Opens and reads a file without `openat` and `read`.
static int use_ring(const char *file) {
    struct io_uring_params parameters = {0};
    long ring = syscall(SYS_io_uring_setup, 4, &parameters);
    if (ring < 0) return blocked("io_uring_setup");
    size_t size = parameters.sq_off.array + parameters.sq_entries * 4;
    size_t completion_size = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
    if (completion_size > size) size = completion_size;
    char *rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entries = mmap(NULL, 4 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (rings == MAP_FAILED || entries == MAP_FAILED) return blocked("mmap");
    char text[256] = {0};
    int fd = -1;
    for (unsigned step = 0; step < 2; step++) {
        struct io_uring_sqe *entry = &entries[step];
        memset(entry, 0, sizeof *entry);
        entry->opcode = step ? IORING_OP_READ : IORING_OP_OPENAT;
        entry->fd = step ? fd : AT_FDCWD;
        entry->addr = (uintptr_t)(step ? text : file);
        entry->len = step ? sizeof text - 1 : 0;
        ((unsigned *)(rings + parameters.sq_off.array))[step] = step;
        __atomic_store_n((unsigned *)(rings + parameters.sq_off.tail), step + 1, __ATOMIC_RELEASE);
        if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return blocked("io_uring_enter");
        struct io_uring_cqe *done = (struct io_uring_cqe *)(rings + parameters.cq_off.cqes) + step;
        errno = -done->res;
        if (done->res < 0) return blocked("ring");
        fd = done->res;
    }
    puts(text);
    return 0;
}

static int use_bpf(void) {
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return result("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

static int use_perf(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .exclude_kernel = 1};
    return result("perf_event_open", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

static int unix_address(struct sockaddr_un *address, const char *path) {
    address->sun_family = AF_UNIX;
    strncpy(address->sun_path, path, sizeof address->sun_path - 1);
    int length = offsetof(struct sockaddr_un, sun_path) + strlen(path);
    if (path[0] == '@') address->sun_path[0] = 0;
    return path[0] == '@' ? length : (int)sizeof *address;
}

static int send_datagram(const char *path, int type) {
    struct sockaddr_un address = {0};
    int length = unix_address(&address, path), pair[2];
    if (socketpair(AF_UNIX, type, 0, pair) < 0) return blocked("socketpair");
    return result("sendto", sendto(pair[0], "attack", 6, 0, (struct sockaddr *)&address, length));
}

static int send_stream(const char *path) {
    struct sockaddr_un address = {0};
    int length = unix_address(&address, path), fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return blocked("socket");
    if (connect(fd, (struct sockaddr *)&address, length) < 0) return blocked("connect");
    return result("write", write(fd, "attack", 6));
}

static int create_socket(int family, int type, int protocol) {
    return result("socket", socket(family, type, protocol));
}

static int create_odd_sockets(void) {
    int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
    for (int family = 3; family < 46; family++)
        for (int i = 0; i < 4; i++) {
            if (family == AF_INET6 || family == AF_NETLINK) continue;
            if (socket(family, types[i], 0) >= 0) {
                printf("family %d\n", family);
                return escaped();
            }
        }
    return blocked("socket");
}

static int type_into_terminal(void) {
    for (int fd = 0; fd < 3; fd++)
        if (ioctl(fd, TIOCSTI, "x") == 0) return escaped();
    int terminal = open("/dev/tty", O_RDWR);
    return result("TIOCSTI", terminal < 0 ? -1 : ioctl(terminal, TIOCSTI, "x"));
}

static long call_32_bit(long number, long first) {
#ifdef __x86_64__
    long value;
    __asm__ volatile("int $0x80" : "=a"(value) : "a"(number), "b"(first) : "memory", "r8", "r9", "r10", "r11");
    if (value < 0) errno = -value;
    return value;
#else
    (void)number, (void)first;
    errno = ENOSYS;
    return -1;
#endif
}

static int create_namespace(int is_new_call) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long pid = is_new_call ? syscall(SYS_clone3, &arguments, sizeof arguments)
                           : syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return result("clone", pid);
}

static int join_namespace(const char *path) {
    int fd = open(path, O_RDONLY);
    return fd < 0 ? blocked("open namespace") : result("setns", setns(fd, 0));
}

static int fork_many(int count) {
    int created = 0;
    pid_t *children = calloc(count, sizeof *children);
    while (created < count) {
        pid_t pid = fork();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        if (pid < 0) break;
        children[created++] = pid;
    }
    int error = errno;
    printf("created %d\n", created);
    for (int i = 0; i < created; i++) kill(children[i], SIGKILL);
    while (wait(NULL) > 0) {
    }
    errno = error;
    return created == count ? escaped() : blocked("fork");
}

static int allocate(long mib) {
    for (long i = 0; i < mib; i += 16) {
        char *block = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) return blocked("mmap");
        for (long at = 0; at < 16 << 20; at += 4096) block[at] = 1;
    }
    return escaped();
}

static int fill(const char *path, long mib) {
    static char block[1 << 20];
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0) return blocked("open");
    signal(SIGXFSZ, SIG_IGN);
    int failed = 0;
    for (long i = 0; i < mib && !failed; i++) failed = write(fd, block, sizeof block) != sizeof block;
    int error = errno;
    unlink(path);
    errno = error;
    return failed ? blocked("write") : escaped();
}

static int fill_inodes(const char *directory, int count) {
    char path[128];
    int created = 0;
    for (; created < count; created++) {
        snprintf(path, sizeof path, "%s/inode-%d", directory, created);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0) break;
        close(fd);
    }
    int error = errno;
    for (int i = 0; i < created; i++) {
        snprintf(path, sizeof path, "%s/inode-%d", directory, i);
        unlink(path);
    }
    errno = error;
    return created == count ? escaped() : blocked("open");
}

static int open_many(int count) {
    for (int i = 0; i < count; i++)
        if (open("/dev/null", O_RDONLY) < 0) return blocked("open");
    return escaped();
}

static int burn(int seconds) {
    struct rusage usage;
    do {
        for (volatile int i = 0; i < 1000000; i++) {
        }
        getrusage(RUSAGE_SELF, &usage);
    } while (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec < seconds);
    return escaped();
}

// Leaves a process behind that has no relation to this one, ignores signals and has no environment.
static int leave_behind(const char *token) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
            int nowhere = open("/dev/null", O_RDWR);
            for (int fd = 0; fd < 3; fd++) dup2(nowhere, fd);
            char *arguments[] = {(char *)token, "20", NULL}, *environment[] = {NULL};
            execve("/bin/sleep", arguments, environment);
        }
        _exit(0);
    }
    wait(NULL);
    return 0;
}

// Opens a running program, waits until no process executes it, and writes to its file.
static int overwrite_program(const char *pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/exe", pid);
    int program = open(path, O_PATH);
    if (program < 0) return blocked("open program");
    snprintf(path, sizeof path, "/proc/self/fd/%d", program);
    for (int i = 0; i < 40; i++) {
        int fd = open(path, O_WRONLY | O_APPEND);
        if (fd >= 0) return result("write", write(fd, "x", 1));
        if (errno != ETXTBSY) break;
        usleep(10000);
    }
    return blocked("open for writing");
}

// Exchanges two paths again and again.
static int swap(const char *one, const char *other, int milliseconds) {
    struct timeval start, now;
    gettimeofday(&start, NULL);
    do {
        if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) < 0) return blocked("renameat2");
        gettimeofday(&now, NULL);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_usec - start.tv_usec) / 1000 < milliseconds);
    return 0;
}

static int reopen(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd < 0) return blocked("open");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    fd = open(link, O_WRONLY | O_APPEND);
    return fd < 0 ? blocked("reopen") : result("write", write(fd, "x", 1));
}

static int create_device(const char *path, const char *kind, int major_number, int minor_number) {
    if (mknod(path, (kind[0] == 'b' ? S_IFBLK : S_IFCHR) | 0600, makedev(major_number, minor_number)) < 0)
        return blocked("mknod");
    char byte;
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    int error = errno;
    long length = fd < 0 ? -1 : read(fd, &byte, 1);
    if (fd >= 0) error = errno;
    unlink(path);
    errno = error;
    return result("read device", length);
}

static int set_name(void) {
    char name[128];
    gethostname(name, sizeof name);
    return result("sethostname", sethostname(name, strlen(name)));
}

static int not_refused(const char *step, long value) {
    return value < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS) ? blocked(step) : escaped();
}

static int capabilities(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long held = 0;
    if (!status) return blocked("open status");
    while (fgets(line, sizeof line, status)) sscanf(line, "CapEff: %llx", &held);
    return held ? escaped() : blocked("capabilities");
}

static int run(const char *name, char **arguments) {
#define IS(word) (strcmp(name, word) == 0)
#define PID ((pid_t)atoi(arguments[0]))
    if (IS("victim")) return victim(arguments);
    if (IS("read-mem")) return peek(PID, 1);
    if (IS("vm-read")) return peek(PID, 0);
    if (IS("write-mem")) return poke(PID, 1);
    if (IS("vm-write")) return poke(PID, 0);
    if (IS("ptrace")) return result("ptrace", ptrace(PTRACE_SEIZE, PID, 0, 0));
    if (IS("take-fd")) return take_descriptor(PID, atoi(arguments[1]));
    if (IS("pidfd-signal")) return signal_by_pidfd(PID);
    if (IS("kcmp")) return result("kcmp", syscall(SYS_kcmp, PID, getpid(), 2, 0, 0));
    if (IS("prlimit")) return change_limit(PID);
    if (IS("priority")) return result("setpriority", setpriority(PRIO_PROCESS, PID, getpriority(PRIO_PROCESS, 0)));
    if (IS("affinity")) return change_affinity(PID);
    if (IS("scheduler")) return change_scheduler(PID);
    if (IS("io-priority")) return result("ioprio_set", syscall(SYS_ioprio_set, 1, PID, 2 << 13 | 4));
    if (IS("shared-memory")) {
        char *shared = shmat(atoi(arguments[0]), NULL, SHM_RDONLY);
        if (shared == (char *)-1) return blocked("shmat");
        puts(shared);
        return 0;
    }
    if (IS("queue")) return read_queue(arguments[0]);
    if (IS("unlink-queue")) return mq_unlink(arguments[0]);
    if (IS("add-key")) return add_key(arguments[0], arguments[1]);
    if (IS("remove-key")) return remove_key(arguments[0]);
    if (IS("read-key")) return read_key(arguments[0], 0);
    if (IS("request-key")) return read_key(arguments[0], 1);
    if (IS("unshare")) return result("unshare", unshare(strtol(arguments[0], NULL, 16)));
    if (IS("clone")) return create_namespace(0);
    if (IS("clone3")) return create_namespace(1);
    if (IS("setns")) return join_namespace(arguments[0]);
    if (IS("open-tree")) return clone_tree(arguments[0], arguments[1]);
    if (IS("fsopen")) {
        become_mounter();
        return result("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    }
    if (IS("set-writable")) return set_writable(arguments[0]);
    if (IS("chroot")) return leave_chroot(arguments[0]);
    if (IS("pivot-root")) return change_root();
    if (IS("handle")) return open_handle(arguments[0], arguments[1], 0);
    if (IS("guess-handle")) return open_handle(arguments[0], NULL, 1);
    if (IS("ring")) return use_ring(arguments[0]);
    if (IS("bpf")) return use_bpf();
    if (IS("perf")) return use_perf();
    if (IS("userfaultfd")) return result("userfaultfd", syscall(SYS_userfaultfd, 1));
    if (IS("datagram")) return send_datagram(arguments[0], SOCK_DGRAM);
    if (IS("raw-datagram")) return send_datagram(arguments[0], SOCK_RAW | SOCK_CLOEXEC);
    if (IS("stream")) return send_stream(arguments[0]);
    if (IS("socket")) return create_socket(atoi(arguments[0]), atoi(arguments[1]), atoi(arguments[2]));
    if (IS("odd-sockets")) return create_odd_sockets();
    if (IS("tiocsti")) return type_into_terminal();
    if (IS("32-bit")) return result("32-bit unshare", call_32_bit(310, CLONE_NEWUSER));
    if (IS("x32")) return result("x32 unshare", syscall(0x40000000 | SYS_unshare, CLONE_NEWUSER));
    if (IS("fork")) return fork_many(atoi(arguments[0]));
    if (IS("allocate")) return allocate(atol(arguments[0]));
    if (IS("fill")) return fill(arguments[0], atol(arguments[1]));
    if (IS("fill-inodes")) return fill_inodes(arguments[0], atoi(arguments[1]));
    if (IS("open-many")) return open_many(atoi(arguments[0]));
    if (IS("burn")) return burn(atoi(arguments[0]));
    if (IS("leave-behind")) return leave_behind(arguments[0]);
    if (IS("overwrite-program")) return overwrite_program(arguments[0]);
    if (IS("nap")) return usleep(100000);
    if (IS("swap")) return swap(arguments[0], arguments[1], atoi(arguments[2]));
    if (IS("reopen")) return reopen(arguments[0]);
    // An unnamed file leaves nothing behind.
    if (IS("create-in")) return result("open", open(arguments[0], O_TMPFILE | O_RDWR, 0600));
    if (IS("open-for-writing")) return result("open", open(arguments[0], O_WRONLY | O_NONBLOCK));
    if (IS("open-for-reading")) return result("open", open(arguments[0], O_RDONLY | O_NONBLOCK));
    if (IS("device")) return create_device(arguments[0], arguments[1], atoi(arguments[2]), atoi(arguments[3]));
    if (IS("effective-user")) return geteuid() != getuid() ? escaped() : 1;
    if (IS("capabilities")) return capabilities();
    if (IS("host-name")) return set_name();
    if (IS("load-module")) return not_refused("init_module", syscall(SYS_init_module, NULL, 0, ""));
    if (IS("load-kernel")) return not_refused("kexec_load", syscall(SYS_kexec_load, 0, 17, NULL, ~0UL));
    if (IS("kernel-log")) return result("syslog", syscall(SYS_syslog, 10, NULL, 0));
    if (IS("port-access")) return result("iopl", iopl(3));
    fprintf(stderr, "unknown attempt `%s`\n", name);
    return 2;
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    return run(arguments[1], arguments + 2);
}
