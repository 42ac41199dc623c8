//! Lowers the priority of threads that must not delay the load.

/// Gives the calling thread, and threads that it starts, the lowest priority, so that ready threads
/// of the load preempt it. Meant for threads that may wait, such as those of outputs and pages.
pub fn run_in_background() {
    // On Linux, each thread has a separate nice value, and 0 refers to the calling thread
    // (setpriority(2)). If the system refuses the call, the thread keeps its priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    /// The nice value of the calling thread: the 19th field of proc_pid_stat(5), counting the name
    /// in parentheses as the second.
    fn nice() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit_once(')').unwrap().1;
        after_name
            .split_ascii_whitespace()
            .nth(16)
            .unwrap()
            .parse()
            .unwrap()
    }

    #[test]
    fn only_the_calling_thread_and_its_threads_have_a_lower_priority() {
        let before = nice();
        let lowered = std::thread::spawn(|| {
            super::run_in_background();
            (nice(), std::thread::spawn(nice).join().unwrap())
        });
        assert_eq!(lowered.join().unwrap(), (19, 19));
        assert_eq!(nice(), before);
    }
}
