/* The external scanner: it makes the grammar total.
 *
 * Where the next token is one that the parser can take, the scanner steps aside and the generated
 * lexer reads it. Where it is not, the scanner names what is wrong:
 *
 *   missing        no characters: a token that had to come here and did not
 *   missing_brace  no characters: the file ends inside a block
 *   junk           characters that fit nowhere, up to the end of the statement
 *
 * A line break says nothing in PTX, but it tells where a person thought a statement ended: when what
 * follows it can only begin a statement (`starts_statement`), the statement before it is taken to
 * have ended, and not to swallow its neighbour.
 *
 * The scanner keeps no state, so re-parsing after an edit gives what parsing anew gives.
 */
#include "tree_sitter/parser.h"

/* In the order of `externals` in grammar.js. */
enum Token {
  MISSING, MISSING_BRACE, JUNK, LINE_END, ERROR_SENTINEL,
  IDENTIFIER, MODIFIER, INTEGER, STRING, DWARF_LINE,
  COMMA, SEMICOLON, COLON, LEFT_BRACE, RIGHT_BRACE, LEFT_PAREN, RIGHT_PAREN, LEFT_BRACKET,
  RIGHT_BRACKET, AT, NOT, EQUALS, BAR, LESS, GREATER, PLUS, MINUS, TIMES, DIVIDE, PERCENT, AND, XOR,
  TILDE, QUESTION, PARAM, ENTRY, ATTRIBUTE, WARP_SIZE,
  NOTHING,
};

static inline bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static inline bool is_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool is_word(int32_t c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
static inline bool is_blank(int32_t c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == 0x1A || c == 0xFEFF;
}
static inline void next(TSLexer *lexer) { lexer->advance(lexer, false); }

/* Passes blanks, line ends and preprocessor lines; says whether a line ended. */
static bool pass_gap(TSLexer *lexer) {
  bool line = false;
  for (;; next(lexer)) {
    if (lexer->lookahead == '#')
      while (!lexer->eof(lexer) && lexer->lookahead != '\n') next(lexer);
    if (lexer->lookahead == '\n') line = true;
    else if (!is_blank(lexer->lookahead)) return line;
  }
}

static void read_word(TSLexer *lexer, char *buffer, unsigned size) {
  unsigned n = 0;
  while (is_word(lexer->lookahead)) {
    if (n + 1 < size) buffer[n++] = (char)lexer->lookahead;
    next(lexer);
  }
  buffer[n] = 0;
}

static bool is_one_of(const char *word, const char *const *list) {
  for (; *list; list++) {
    const char *a = word, *b = *list;
    while (*a && *a == *b) a++, b++;
    if (!*a && !*b) return true;
  }
  return false;
}

/* Directives that can only begin a statement. */
static const char *const DIRECTIVES[] = {
  "version", "target", "address_size", "entry", "func", "visible", "extern", "weak", "common",
  "file", "loc", "loc_intermediate", "section", "alias", "branchtargets", "calltargets", "callprototype", "struct",
  "union", 0,
};
/* State spaces are also modifiers (`ld.global.u32`), but as a declaration they stand apart. */
static const char *const SPACES[] = {
  "reg", "sreg", "global", "shared", "local", "const", "param", "tex", "surf", 0,
};

/* What follows the `c` of the only opcode without modifiers that a `(` may follow. */
static const char *const CALL[] = {"all", 0};

/* What follows the `W` of the only name that a `.loc` takes for a number. */
static const char *const CONSTANT[] = {"ARP_SZ", 0};

/* What may also stand behind `.ptr` in a parameter. */
static const char *const POINTED[] = {"global", "shared", "local", "const", 0};
static const char *const ALIGN[] = {"align", 0};
static const char *const ATTRIBUTES[] = {"attribute", 0};
/* Words of a `.loc`, without their first letters. */
static const char *const LOCATED[] = {"unction_name", "nlined_at", 0};

/* Whether a type follows a state space that was read: `.align 4` and a name may stand behind `.ptr`. */
static bool is_declared(TSLexer *lexer) {
  char word[24];
  pass_gap(lexer);
  if (lexer->lookahead != '.') return false;
  next(lexer);
  read_word(lexer, word, sizeof word);
  if (!is_one_of(word, ALIGN)) return true;
  pass_gap(lexer);
  while (is_digit(lexer->lookahead)) next(lexer);
  pass_gap(lexer);
  return lexer->lookahead == '.';
}

static bool starts_operand(int32_t c) {
  return is_word(c) || c == '%' || c == '[' || c == '{' || c == '(' || c == '"' || c == '!' ||
         c == '-' || c == '~';
}

/* Whether a `{` that was read begins a block, and no vector. */
static bool starts_block(TSLexer *lexer) {
  pass_gap(lexer);
  int32_t c = lexer->lookahead;
  if (c == '.' || c == '@' || c == '/') return true;
  if (!is_letter(c) && c != '_' && c != '$') return false;
  while (is_word(lexer->lookahead) || lexer->lookahead == '.' || lexer->lookahead == ':') next(lexer);
  pass_gap(lexer);
  c = lexer->lookahead;
  return c == ';' || starts_operand(c);
}

/* Whether the text at the start of a line can only begin a statement. Its first character, `c`, has
 * been read; reads on. */
static bool starts_statement(TSLexer *lexer, int32_t c, const bool *valid) {
  char word[24];
  /* behind `=` and in the list of an initialiser */
  bool value = valid[IDENTIFIER] && valid[LEFT_BRACE] && !valid[LEFT_BRACKET];
  if (c == '@') return true;
  if (c == '{') return valid[IDENTIFIER] && !value && starts_block(lexer); /* or a vector may stand */
  if (c == '.') {
    read_word(lexer, word, sizeof word);
    if (valid[PARAM] && valid[ENTRY]) return false; /* `.visible`, and what it applies to */
    if (is_one_of(word, DIRECTIVES)) return true;
    if (valid[PARAM] || !is_one_of(word, SPACES) || !is_blank(lexer->lookahead)) return false;
    while (is_blank(lexer->lookahead)) next(lexer);
    if (lexer->lookahead == '\n') return false; /* at the end of a line it may be a modifier */
    return !is_one_of(word, POINTED) || is_declared(lexer);
  }
  bool percent = c == '%';
  if (!is_letter(c) && c != '_' && c != '$' && !percent) return false;
  read_word(lexer, word, sizeof word);
  if ((c == 'f' || c == 'i') && is_one_of(word, LOCATED)) return false;
  bool call = c == 'c' && is_one_of(word, CALL);
  unsigned component = 0; /* length of the last `.modifier` */
  while (!percent && lexer->lookahead == '.') {
    next(lexer);
    component = 0;
    while (is_word(lexer->lookahead) || lexer->lookahead == ':') next(lexer), component++;
  }
  bool blank = false;
  while (is_blank(lexer->lookahead)) next(lexer), blank = true;
  c = lexer->lookahead;
  if (component == 0 && c == ':') {
    next(lexer);
    return lexer->lookahead != ':';
  }
  if (percent) return false;
  /* no two operands stand side by side; but behind a name, `(` begins a list of parameters */
  if (blank && starts_operand(c)) return c != '(' || (!value && (call || component > 0));
  return component > 1 && (c == ';' || c == '\n'); /* `membar.gl;`, but not `v.x;` */
}

/* The token that `c` begins, or NOTHING. */
static enum Token token_of(int32_t c) {
  if (is_letter(c) || c == '_' || c == '$') return IDENTIFIER;
  if (is_digit(c)) return INTEGER;
  switch (c) {
    case '.': return MODIFIER;
    case '"': return STRING;
    case ',': return COMMA;
    case ';': return SEMICOLON;
    case ':': return COLON;
    case '{': return LEFT_BRACE;
    case '}': return RIGHT_BRACE;
    case '(': return LEFT_PAREN;
    case ')': return RIGHT_PAREN;
    case '[': return LEFT_BRACKET;
    case ']': return RIGHT_BRACKET;
    case '@': return AT;
    case '!': return NOT;
    case '=': return EQUALS;
    case '|': return BAR;
    case '<': return LESS;
    case '>': return GREATER;
    case '+': return PLUS;
    case '-': return MINUS;
    case '*': return TIMES;
    case '/': return DIVIDE;
    case '%': return PERCENT;
    case '&': return AND;
    case '^': return XOR;
    case '~': return TILDE;
    case '?': return QUESTION;
    default: return NOTHING;
  }
}

/* Whether the parser can take `token`, which begins with the characters `c` and `second`. */
static bool is_possible(enum Token token, int32_t c, int32_t second, const bool *valid) {
  switch (token) {
    case NOTHING: return false;
    case IDENTIFIER: return valid[IDENTIFIER] && (c != '$' || is_word(second));
    case PERCENT: return is_word(second) ? valid[IDENTIFIER] : valid[PERCENT];
    /* `.5` is a number where a number may stand and a modifier may not */
    case MODIFIER: return is_word(second) && second != '$' && (valid[MODIFIER] || (is_digit(second) && valid[INTEGER]));
    case AT: return second == '@' ? valid[DWARF_LINE] : valid[AT];
    case EQUALS: return second == '=' ? valid[TIMES] : valid[EQUALS];
    case NOT: return second == '=' ? valid[TIMES] : valid[NOT];
    default: return valid[token];
  }
}

/* Whether the string whose opening quote was read is closed. One that goes on over line ends counts
 * as closed only if its statement or the line ends behind it: else the quote is that of another string. With
 * `mark`, the text up to where the statement seems to end is marked. */
static bool string_ends(TSLexer *lexer, bool mark) {
  bool line = false;
  for (; !lexer->eof(lexer) && lexer->lookahead != '"'; next(lexer)) {
    if (mark && (lexer->lookahead == '\n' || lexer->lookahead == ';')) {
      lexer->mark_end(lexer);
      mark = false;
    }
    line |= lexer->lookahead == '\n';
  }
  if (mark) lexer->mark_end(lexer);
  if (!line) return !lexer->eof(lexer);
  if (lexer->eof(lexer)) return false;
  do next(lexer);
  while (is_blank(lexer->lookahead));
  return lexer->eof(lexer) || lexer->lookahead == ';' || lexer->lookahead == ',' || lexer->lookahead == '\n';
}

static bool emit(TSLexer *lexer, enum Token token) {
  lexer->result_symbol = token;
  return true;
}

/* Reads up to the end of the broken statement: a `;`, a `}` that the junk did not open, or a line
 * that may begin another statement. `depth` counts the `{` that were read already. */
static bool read_junk(TSLexer *lexer, unsigned depth) {
  for (;;) {
    int32_t c = lexer->lookahead;
    lexer->mark_end(lexer);
    if (lexer->eof(lexer) || c == ';' || (c == '}' && depth == 0)) break;
    if (c == '{') depth++;
    if (c == '}') depth--;
    next(lexer);
    if (c != '\n') continue;
    pass_gap(lexer);
    c = lexer->lookahead;
    if (is_letter(c) || c == '_' || c == '$' || c == '.' || c == '@' || c == '}' || c == '/') break;
  }
  return emit(lexer, JUNK);
}

/* So many comments and preprocessor lines are looked over. What stands behind more of them is asked again
 * after each: else a run of n of them would be read n times. */
enum { MOST_PASSED = 16 };

/* Passes all that may stand between two tokens. `*line`: a line ended there. False where a comment
 * never ends. At a `/` that starts no comment, `*slash` is set and the `/` is passed. `*far` is set where
 * more stands there than is looked over. */
static bool pass_space(TSLexer *lexer, bool *line, bool *slash, bool *far) {
  for (unsigned passed = 0;; passed++) {
    while (is_blank(lexer->lookahead) || lexer->lookahead == '\n') {
      *line |= lexer->lookahead == '\n';
      next(lexer);
    }
    *far = passed == MOST_PASSED && (lexer->lookahead == '/' || lexer->lookahead == '#');
    if (*far) return true;
    if (lexer->lookahead == '#') {
      while (!lexer->eof(lexer) && lexer->lookahead != '\n') next(lexer);
      continue;
    }
    if (lexer->lookahead != '/') return true;
    next(lexer);
    if (lexer->lookahead == '/') {
      while (!lexer->eof(lexer) && lexer->lookahead != '\n') next(lexer);
    } else if (lexer->lookahead == '*') {
      next(lexer);
      for (int32_t last = 0; last != '*' || lexer->lookahead != '/'; next(lexer)) {
        if (lexer->eof(lexer)) return false;
        last = lexer->lookahead;
        *line |= last == '\n';
      }
      next(lexer);
    } else {
      *slash = true;
      return true;
    }
  }
}

bool tree_sitter_ptx_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  if (valid[ERROR_SENTINEL]) return false;
  lexer->mark_end(lexer); /* `missing` stands right behind the token before it */

  bool line = false, slash = false, far = false;
  bool closed = pass_space(lexer, &line, &slash, &far);
  if (far) return false;
  if (closed && !slash && lexer->eof(lexer)) {
    if (valid[LINE_END]) return emit(lexer, LINE_END);
    if (valid[MISSING]) return emit(lexer, MISSING);
    if (valid[MISSING_BRACE]) return emit(lexer, MISSING_BRACE);
    return valid[JUNK] && !valid[DWARF_LINE] && emit(lexer, JUNK);
  }

  int32_t c = lexer->lookahead;
  enum Token token = !closed ? NOTHING : slash ? DIVIDE : token_of(c);
  if (valid[LINE_END] && line && token != COMMA) return emit(lexer, LINE_END);
  if (closed && !slash) next(lexer);
  if (token == STRING && valid[STRING]) {
    if (string_ends(lexer, valid[JUNK])) return false;
    if (valid[JUNK]) return emit(lexer, JUNK);
    token = NOTHING;
  }
  int32_t second = lexer->lookahead;
  if (token == MODIFIER && !valid[MODIFIER] && valid[ATTRIBUTE]) {
    char word[24];
    read_word(lexer, word, sizeof word);
    /* before its name a function takes attributes; behind `.align 4` a state space may come, too */
    if (is_one_of(word, ATTRIBUTES)) return false;
    if (valid[PARAM] && (is_one_of(word, ALIGN) || is_one_of(word, SPACES))) return false;
  }
  if (token == IDENTIFIER && !valid[IDENTIFIER] && valid[WARP_SIZE] && c == 'W') {
    char word[24];
    read_word(lexer, word, sizeof word);
    if (is_one_of(word, CONSTANT)) return false;
    return emit(lexer, MISSING);
  }
  if (valid[MISSING] && line && starts_statement(lexer, c, valid)) return emit(lexer, MISSING);
  if (is_possible(token, c, second, valid)) return false;
  if (token == RIGHT_BRACE || (line && token == IDENTIFIER) || !valid[JUNK]) {
    if (valid[LINE_END]) return emit(lexer, LINE_END);
    if (valid[MISSING]) return emit(lexer, MISSING);
  }
  return valid[JUNK] && read_junk(lexer, token == LEFT_BRACE);
}

void *tree_sitter_ptx_external_scanner_create(void) { return 0; }
void tree_sitter_ptx_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_ptx_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_ptx_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload, (void)buffer, (void)length;
}
