//! Dekker's and everybody's way to keep two apart: each says that it wants, then looks whether the
//! other does. It takes a fence between the two.

use super::hunt::Wrong;
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::{Acquire, Release};
use machine::{Arc, CachePadded, fence, thread, trace};

/// Two threads that each enter if the other does not want to. `Err`: both have entered.
pub(crate) fn keep_apart(fenced: bool) -> Result<(), Wrong> {
    let wants = Arc::new([(); 2].map(|()| CachePadded::new(AtomicBool::new(false))));
    for (number, word) in (1..).zip(wants.iter()) {
        trace::name(&**word, &format!("t{number}.wants"));
    }
    let threads = [0, 1].map(|me| {
        let wants = wants.clone();
        let enter = move || {
            wants[me].store(true, Release);
            if fenced {
                fence::full();
            }
            !wants[1 - me].load(Acquire)
        };
        thread::Builder::new().name(format!("t{}", me + 1)).spawn(enter).unwrap()
    });
    let entered = threads.map(|thread| thread.join().unwrap());
    if entered == [true; 2] {
        return Err("both have entered".to_owned().into());
    }
    Ok(())
}
