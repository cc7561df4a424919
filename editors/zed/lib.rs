//! Starts `ptx-lsp`, which must be on PATH.

use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Ptx;

impl zed::Extension for Ptx {
    fn new() -> Self {
        Ptx
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree
            .which("ptx-lsp")
            .ok_or("`ptx-lsp` is not on PATH; `pip install ptx-lsp` puts it there")?;
        Ok(Command { command, args: vec![], env: worktree.shell_env() })
    }
}

zed::register_extension!(Ptx);
