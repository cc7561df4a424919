vim.bo.commentstring = '// %s'
vim.bo.comments = 's1:/*,mb:*,ex:*/,://'
-- Registers such as %r1, labels such as $L__BB0_2 and opcodes with modifiers.
vim.opt_local.iskeyword:append({ '%', '$' })
if vim.treesitter.language.add('ptx') then
  vim.treesitter.start(0, 'ptx')
end
