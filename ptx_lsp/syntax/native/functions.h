/* Whole functions. NULL without an exception: not regular. */

#ifndef PTX_FUNCTIONS_H
#define PTX_FUNCTIONS_H

#include "statements.h"

enum { MOST_DEEP = 100, MOST_NUMBERS = 3 };

static const char *const LINKAGES[] = {".visible", ".extern", ".weak", NULL};
static const char *const KINDS[] = {".entry", ".func", NULL};
static const char *const DIRECTIVES[] = {
    ".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".noreturn", NULL};

/* The parameters behind a `(`. */
static PyObject *parameter_nodes(Scanner *s, Py_ssize_t position) {
  PyObject *found = PyList_New(0);
  if (found == NULL) return NULL;
  position = skip_gap(s, position);
  if (at(s, position) == ')') {
    s->end = position + 1;
    return frozen(found);
  }
  while (at(s, position) == '.' && appended(found, declaration_node(s, position, 1))) {
    position = skip_gap(s, s->end);
    unsigned char mark = at(s, position);
    if (mark == ')') {
      s->end = position + 1;
      return frozen(found);
    }
    if (mark != ',') break;
    position = skip_gap(s, position + 1);
  }
  Py_DECREF(found);
  return NULL;
}

/* A performance directive such as `.maxntid 128, 1, 1`. */
static PyObject *directive_node(Scanner *s, Py_ssize_t start) {
  const char *name = one_of(s, start, DIRECTIVES);
  if (name == NULL) return NULL;
  Py_ssize_t name_end = start + (Py_ssize_t)strlen(name), end = name_end, numbers[MOST_NUMBERS][2];
  int count = 0;
  while (count < MOST_NUMBERS) {
    Py_ssize_t comma = count ? skip(s, end, BLANK) : end;
    if (count && at(s, comma) != ',') break;
    Py_ssize_t number = skip(s, count ? comma + 1 : comma, BLANK), stop = skip_whole(s, number);
    if ((!count && number == end) || stop == number) break;
    numbers[count][0] = number;
    numbers[count++][1] = end = stop;
  }
  unsigned char next = at(s, end);
  if (!is(next, LINE) && next != '{' && next != ';' && next != '/') return NULL;
  s->end = end;
  return NEW_NODE(
      DIRECTIVE, start - s->base, end - s->base, NO_ITEMS, name_node(s, start, name_end),
      whole_nodes(s, numbers, count));
}

/* The block behind a `{`. */
static PyObject *body_node(Scanner *s, Py_ssize_t position) {
  Py_ssize_t begins[MOST_DEEP];
  PyObject *open[MOST_DEEP];
  int depth = 1;
  begins[0] = position - 1 - s->base;
  open[0] = PyList_New(0);
  while (open[depth - 1] != NULL) {
    PyObject *statement = statement_node(s, position);
    if (statement == NULL && PyErr_Occurred()) break;
    if (statement == NULL && s->brace == '{') {
      if (depth == MOST_DEEP) break;
      begins[depth] = s->end - 1 - s->base;
      open[depth++] = PyList_New(0);
    } else if (statement == NULL && s->brace == '}') {
      depth--;
      PyObject *block = NEW_NODE(BLOCK, begins[depth], s->end - s->base, NONE, frozen(open[depth]));
      if (!depth) return block;
      if (!appended(open[depth - 1], block)) break;
    } else if (!appended(open[depth - 1], statement)) {
      break;
    }
    position = s->end;
  }
  while (depth--) Py_XDECREF(open[depth]);
  return NULL;
}

/* The function that begins there; `base` is `start` then. */
static PyObject *function_node(Scanner *s, Py_ssize_t start) {
  PyObject *linkage = NO_ITEMS, *returns = NONE, *parameters = NONE, *body = NONE;
  PyObject *directives = PyList_New(0), *kind = NULL, *name = NULL;
  Py_ssize_t position = s->base = start;
  const char *word = one_of(s, position, LINKAGES);
  if (directives == NULL) goto failed;
  if (word != NULL) {
    Py_ssize_t end = position + (Py_ssize_t)strlen(word);
    PyObject *first = name_node(s, position, end);
    replace(&linkage, first == NULL ? NULL : PyTuple_New(1));
    if (linkage == NULL) {
      Py_XDECREF(first);
      goto failed;
    }
    PyTuple_SetItem(linkage, 0, first);
    position = skip(s, end, BLANK);
    if (position == end) goto failed;
  }
  word = one_of(s, position, KINDS);
  if (word == NULL || !starts_word(s, position, word)) goto failed; /* `.funcs` is another directive */
  kind = name_node(s, position, position + (Py_ssize_t)strlen(word));
  position = skip(s, position + (Py_ssize_t)strlen(word), BLANK);
  if (at(s, position) == '(') {
    replace(&returns, parameter_nodes(s, position + 1));
    if (returns == NULL) goto failed;
    position = s->end;
  }
  position = skip(s, position, BLANK);
  Py_ssize_t name_end = skip_name(s, position);
  if (name_end == position || is_equal(s, position, name_end, "call")) goto failed;
  name = name_node(s, position, name_end);
  position = skip_gap(s, name_end);
  if (at(s, position) == '(') {
    replace(&parameters, parameter_nodes(s, position + 1));
    if (parameters == NULL) goto failed;
    position = s->end;
  }
  for (position = skip_gap(s, position); at(s, position) == '.'; position = skip_gap(s, s->end))
    if (!appended(directives, directive_node(s, position))) goto failed;
  if (at(s, position) == '{') {
    replace(&body, body_node(s, position + 1));
    if (body == NULL) goto failed;
  } else if (at(s, position) == ';') {
    s->end = position + 1;
  } else {
    goto failed;
  }
  return NEW_NODE(
      FUNCTION, 0, s->end - start, linkage, kind, NO_ITEMS, returns, name, NO_ITEMS, parameters,
      frozen(directives), body);
failed:
  Py_XDECREF(linkage);
  Py_XDECREF(returns);
  Py_XDECREF(parameters);
  Py_XDECREF(body);
  Py_XDECREF(directives);
  Py_XDECREF(kind);
  Py_XDECREF(name);
  return NULL;
}

/* The first offset, from the start of a line on, at which a line begins, apart from blanks, with the word of a
 * function; -1 if none. */
static Py_ssize_t find_function(const Scanner *s, Py_ssize_t line) {
  while (line >= 0 && line < s->size) {
    Py_ssize_t start = skip(s, line, BLANK);
    const char *word = one_of(s, start, LINKAGES);
    if (word == NULL) word = one_of(s, start, KINDS);
    if (word != NULL && !is(at(s, start + (Py_ssize_t)strlen(word)), WORD)) return start;
    line = next_line(s, start);
  }
  return -1;
}

/* The start of the line on which a function at `start` turned out not to be regular, or of the line behind
 * `start`. No function begins in what was passed before, or a comment contains it. */
static Py_ssize_t line_behind(const Scanner *s, Py_ssize_t start, Py_ssize_t passed) {
  while (passed > start && is(at(s, passed - 1), BLANK)) passed--;
  return passed > start && at(s, passed - 1) == '\n' ? passed : next_line(s, passed);
}

#endif
