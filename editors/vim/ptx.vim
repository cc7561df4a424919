" Copy to ~/.vim/plugin/. Needs ALE (https://github.com/dense-analysis/ale).
autocmd BufRead,BufNewFile *.ptx setfiletype ptx
autocmd FileType ptx setlocal omnifunc=ale#completion#OmniFunc commentstring=//\ %s

function! s:root(buffer) abort
  let l:config = ale#path#FindNearestFile(a:buffer, 'ptx-lint.toml')
  return !empty(l:config) ? fnamemodify(l:config, ':h') : expand('#' . a:buffer . ':p:h')
endfunction

function! s:define() abort
  call ale#linter#Define('ptx', {
  \   'name': 'ptx_lsp',
  \   'lsp': 'stdio',
  \   'executable': 'ptx-lsp',
  \   'command': '%e',
  \   'project_root': function('s:root'),
  \})
endfunction

autocmd VimEnter * if exists('*ale#linter#Define') || !empty(globpath(&runtimepath, 'autoload/ale/linter.vim')) | call s:define() | endif
