/* Operands that are words, addresses and lists of words. NULL without an exception: not regular. */

#ifndef PTX_OPERANDS_H
#define PTX_OPERANDS_H

#include "words.h"

static inline int is_in_flat(unsigned char c) { return c != '\n' && (c == 0 || !strchr("][(){};\"/|", c)); }

static Py_ssize_t skip_flat(const Scanner *s, Py_ssize_t position) {
  while (position < s->size && is_in_flat(at(s, position))) position++;
  return position;
}

/* The offset behind the operand that begins there; `position` itself if there is none. */
static Py_ssize_t skip_operand(const Scanner *s, Py_ssize_t position) {
  unsigned char first = at(s, position);
  Py_ssize_t stop;
  if (first == '[') {
    stop = skip_flat(s, position + 1);
    if (at(s, stop) == '{') {
      Py_ssize_t inner = skip_flat(s, stop + 1);
      if (at(s, inner) == '}') stop = skip_flat(s, inner + 1);
    }
    return at(s, stop) == ']' ? stop + 1 : position;
  }
  if (first == '{') {
    stop = skip_flat(s, position + 1);
    return at(s, stop) == '}' ? stop + 1 : position;
  }
  if (first == '(') {
    for (stop = position + 1; stop < s->size; stop++)
      if (at(s, stop) != '\n' && !is_in_flat(at(s, stop))) break;
    return at(s, stop) == ')' ? stop + 1 : position;
  }
  stop = first == '-' || first == '!' ? position + 1 : position;
  if (!is(at(s, stop), WORD | OTHER_NAME)) return position;
  for (;; stop++) {
    unsigned char c = at(s, stop);
    if (!is(c, WORD | OTHER_NAME) && c != '.' && c != '|') return stop;
  }
}

enum { IN_VECTOR = 1, IN_GROUP = 2 };

/* A name, a number, `-1`, `!p`, `p|q` or `v.x`; `within` says which list the word is an item of. */
static PyObject *word_node(const Scanner *s, Py_ssize_t start, Py_ssize_t end, int within) {
  unsigned char first = at(s, start);
  Py_ssize_t base = s->base, middle = skip_name(s, start);
  if (middle == end) return name_node(s, start, end);
  if (first == '-') {
    const char *kind = number_kind(s, start + 1, end);
    if (kind == NULL) return NULL;
    return NEW_NODE(UNARY, start - base, end - base, string_of("-", 1), number_node(s, start + 1, end, kind));
  }
  if (first == '!') {
    if (within || !is_name(s, start + 1, end)) return NULL;
    return NEW_NODE(UNARY, start - base, end - base, string_of("!", 1), name_node(s, start + 1, end));
  }
  if (is(first, DIGIT)) {
    const char *kind = number_kind(s, start, end);
    return kind == NULL ? NULL : number_node(s, start, end, kind);
  }
  if (middle == start) return NULL;
  if (at(s, middle) == '|') {
    if (within || !is_name(s, middle + 1, end)) return NULL;
    return NEW_NODE(PAIR, start - base, end - base, name_node(s, start, middle), name_node(s, middle + 1, end));
  }
  if (at(s, middle) != '.' || within == IN_GROUP || middle + 1 == end || skip(s, middle + 1, WORD) != end)
    return NULL;
  PyObject *component = name_node(s, middle, end);
  if (component == NULL) return NULL;
  PyObject *components = PyTuple_New(1);
  if (components != NULL) PyTuple_SetItem(components, 0, component);
  else Py_DECREF(component);
  return NEW_NODE(MEMBER, start - base, end - base, name_node(s, start, middle), components);
}

/* The items of a list whose brackets are at `start` and before `end`. */
static PyObject *item_nodes(const Scanner *s, Py_ssize_t start, Py_ssize_t end, int within) {
  Py_ssize_t position = skip(s, start + 1, LINE), last = end - 1;
  if (within == IN_GROUP && position == last) return NO_ITEMS;
  PyObject *items = PyList_New(0);
  if (items == NULL) return NULL;
  for (;;) {
    position = skip(s, position, LINE);
    Py_ssize_t comma = position;
    while (comma < last && at(s, comma) != ',') comma++;
    Py_ssize_t stop = comma;
    while (stop > position && is(at(s, stop - 1), LINE)) stop--;
    PyObject *item = stop == position ? NULL : word_node(s, position, stop, within);
    if (!appended(items, item)) {
      Py_DECREF(items);
      return NULL;
    }
    if (comma == last) return frozen(items);
    position = comma + 1;
  }
}

/* `name` or `name+4` in an address, which ends where `*position` is then; NULL if it is neither. */
static PyObject *sum_node(const Scanner *s, Py_ssize_t *position) {
  Py_ssize_t start = *position, end = skip_name(s, start), base = s->base;
  if (end == start || is_equal(s, start, end, "_")) return NULL;
  *position = end;
  Py_ssize_t plus = skip(s, end, BLANK);
  if (at(s, plus) != '+') return name_node(s, start, end);
  Py_ssize_t sign = skip(s, plus + 1, BLANK);
  Py_ssize_t first = at(s, sign) == '-' ? sign + 1 : sign;
  if (!is(at(s, first), DIGIT)) return name_node(s, start, end);
  Py_ssize_t stop = skip(s, first, WORD);
  const char *kind = number_kind(s, first, stop);
  if (kind == NULL || strcmp(kind, "integer")) return NULL;
  *position = stop;
  PyObject *number = number_node(s, first, stop, kind);
  if (first > sign) number = NEW_NODE(UNARY, sign - base, stop - base, string_of("-", 1), number);
  return NEW_NODE(BINARY, start - base, stop - base, string_of("+", 1), name_node(s, start, end), number);
}

static PyObject *address_node(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  PyObject *items = PyList_New(0);
  Py_ssize_t position = start + 1, last = end - 1;
  if (items == NULL) return NULL;
  for (;;) {
    PyObject *item = NULL;
    position = skip(s, position, BLANK);
    if (at(s, position) == '{') {
      Py_ssize_t stop = position;
      while (at(s, stop) != '}') stop++; /* `skip_operand` has seen it */
      PyObject *inner = PyList_Size(items) ? item_nodes(s, position, stop + 1, IN_VECTOR) : NULL;
      if (inner != NULL) item = NEW_NODE(VECTOR, position - s->base, stop + 1 - s->base, inner);
      position = stop + 1;
    } else {
      item = sum_node(s, &position);
    }
    if (!appended(items, item)) break;
    position = skip(s, position, BLANK);
    if (position == last)
      return NEW_NODE(ADDRESS, start - s->base, end - s->base, frozen(items), NONE);
    if (at(s, position) != ',') break;
    position++;
  }
  Py_DECREF(items);
  return NULL;
}

/* The operand from `start` to `end`, which `skip_operand` has found. */
static PyObject *operand_node(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  PyObject *items;
  switch (at(s, start)) {
  case '[': return address_node(s, start, end);
  case '{':
    items = item_nodes(s, start, end, IN_VECTOR);
    return items == NULL ? NULL : NEW_NODE(VECTOR, start - s->base, end - s->base, items);
  case '(':
    items = item_nodes(s, start, end, IN_GROUP);
    return items == NULL ? NULL : NEW_NODE(GROUP, start - s->base, end - s->base, items);
  default: return word_node(s, start, end, 0);
  }
}

#endif
