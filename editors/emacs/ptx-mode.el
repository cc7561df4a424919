;;; ptx-mode.el --- Major mode for NVIDIA PTX, with ptx-lsp through eglot  -*- lexical-binding: t; -*-

;; Add (load "/path/to/ptx-mode.el") to the init file. eglot is part of Emacs 29, and in ELPA for 28.

;;; Code:

(require 'eglot)

(defvar ptx-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?% "_" table)
    (modify-syntax-entry ?$ "_" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?. "." table)
    table)
  "Syntax of PTX: comments as in C, and `%' and `$' in names.")

(defconst ptx-mode-font-lock
  '(("^[ \t]*\\(@!?%?[A-Za-z0-9_$]+[ \t]+\\)?\\([a-z][a-z0-9_]*\\)\\(\\.[A-Za-z0-9_:.]+\\)?[ \t;]"
     (2 font-lock-function-name-face) (3 font-lock-type-face nil t))
    ("%[A-Za-z0-9_$]+" . font-lock-variable-name-face)
    ("^[ \t]*\\([A-Za-z_$%][A-Za-z0-9_$]*\\):" 1 font-lock-constant-face)
    ("\\.[a-z_][a-z0-9_]*" . font-lock-keyword-face)))

;;;###autoload
(define-derived-mode ptx-mode prog-mode "PTX"
  "NVIDIA PTX."
  (setq-local comment-start "// " comment-end "")
  (setq-local font-lock-defaults '(ptx-mode-font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ptx\\'" . ptx-mode))
(add-to-list 'eglot-server-programs '(ptx-mode . ("ptx-lsp")))
(add-hook 'ptx-mode-hook #'eglot-ensure)

(provide 'ptx-mode)
;;; ptx-mode.el ends here
