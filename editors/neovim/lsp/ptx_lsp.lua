-- For `vim.lsp.enable('ptx_lsp')` (Neovim 0.11 and later).
return {
  cmd = { 'ptx-lsp' },
  filetypes = { 'ptx' },
  root_markers = { 'ptx-lint.toml', 'pyproject.toml', '.git' },
  settings = {
    ptx = {
      inlayHints = { liveRegisters = false, types = false, literals = true },
      codeLens = { enabled = true },
    },
  },
}
