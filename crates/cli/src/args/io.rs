use plimsoll_run::settings::IoMode;

/// The kernel interface of a load command.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct IoArgs {
    /// Kernel interface for plain TCP: auto, epoll, uring; TLS, HTTP/3 and unix sockets always use epoll
    #[arg(
        long,
        value_name = "MODE",
        env = "PLIMSOLL_IO",
        hide_env_values = true,
        default_value = "auto",
        value_parser = IoMode::parse,
        help_heading = "Connections"
    )]
    pub io: IoMode,
}
