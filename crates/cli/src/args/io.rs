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

/// Which kernel interface carries plain TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// The best choice for most runs, which is epoll. Never fails.
    #[default]
    Auto,
    Epoll,
    /// io_uring. The run does not start where the kernel refuses it.
    Uring,
}

impl IoMode {
    /// Takes an empty text for `auto`: variables are often set but empty in CI.
    fn parse(text: &str) -> Result<IoMode, String> {
        match text {
            "" | "auto" => Ok(IoMode::Auto),
            "epoll" => Ok(IoMode::Epoll),
            "uring" => Ok(IoMode::Uring),
            _ => Err("use auto, epoll or uring (also in PLIMSOLL_IO)".to_owned()),
        }
    }

    /// The interface in use, for records.
    pub fn name(self) -> &'static str {
        match self {
            IoMode::Auto | IoMode::Epoll => "epoll",
            IoMode::Uring => "uring",
        }
    }
}
