//! Capabilities: kept over the execution of the helper, then given up.

use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use super::{Failure, Step};

/// The capabilities that `init` needs to mount and to give the others up.
const KEPT: [CapabilitySet; 2] = [CapabilitySet::SYS_ADMIN, CapabilitySet::SETPCAP];

/// Keeps what `init` needs over its execution, also for a user other than root.
pub(super) fn keep() -> Result<(), Failure> {
    let kept = KEPT.into_iter().fold(CapabilitySet::empty(), CapabilitySet::union);
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept };
    set_capabilities(None, sets).step("cannot keep capabilities")?;
    for capability in KEPT {
        configure_capability_in_ambient_set(capability, true).step("cannot keep capabilities")?;
    }
    Ok(())
}

/// Gives up every capability, for this process and everything that it executes.
pub(super) fn drop_all() -> Result<(), Failure> {
    for capability in CapabilitySet::all() {
        // The kernel may not know the newest ones.
        let _ = remove_capability_from_bounding_set(capability);
    }
    clear_ambient_capability_set().step("cannot clear the ambient capabilities")?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .step("cannot drop capabilities")
}
