/* The text that is read, its words, and the strings for them. */

#ifndef PTX_WORDS_H
#define PTX_WORDS_H

#include "nodes.h"

typedef struct {
  PyObject_HEAD
  PyObject *owner; /* keeps `text` alive */
  const char *text;
  Py_ssize_t size;
  Py_ssize_t base;
  Py_ssize_t end;      /* of the statement that was read last */
  Py_ssize_t passed;   /* the end of the last gap */
  Py_ssize_t unclosed; /* no comment that begins there or behind it has an end */
  char brace;          /* the `{` or `}` that was read instead of a statement */
} Scanner;

enum { WORD = 1, LETTER = 2, DIGIT = 4, BLANK = 8, LINE = 16, OTHER_NAME = 32, HEX = 64 };

static unsigned char classes[256];

static void classify(void) {
  for (int c = 0; c < 256; c++) {
    unsigned char found = 0;
    int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (letter) found |= WORD | LETTER;
    if (c >= '0' && c <= '9') found |= WORD | DIGIT | HEX;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) found |= HEX;
    if (c == ' ' || c == '\t') found |= BLANK | LINE;
    if (c == '\r' || c == '\n') found |= LINE;
    if (c == '$' || c == '%') found |= OTHER_NAME;
    classes[c] = found;
  }
}

/* The character at an offset; 0 behind the end. */
static inline unsigned char at(const Scanner *s, Py_ssize_t position) {
  return position < s->size ? (unsigned char)s->text[position] : 0;
}

static inline int is(unsigned char c, int kinds) { return classes[c] & kinds; }

/* Each of these returns the offset behind what it skips. */

static inline Py_ssize_t skip(const Scanner *s, Py_ssize_t position, int kinds) {
  while (is(at(s, position), kinds)) position++;
  return position;
}

/* Blanks, line ends and comments between statements. */
static Py_ssize_t skip_gap(Scanner *s, Py_ssize_t position) {
  for (;;) {
    s->passed = position = skip(s, position, LINE);
    if (at(s, position) != '/') return position;
    if (at(s, position + 1) == '/') {
      const char *stop = memchr(s->text + position, '\n', s->size - position);
      position = stop == NULL ? s->size : stop - s->text;
    } else if (at(s, position + 1) == '*') {
      Py_ssize_t stop = position >= s->unclosed ? s->size : position + 2;
      while (stop < s->size && !(at(s, stop) == '*' && at(s, stop + 1) == '/')) stop++;
      if (stop >= s->size) {
        s->unclosed = position < s->unclosed ? position : s->unclosed;
        return position;
      }
      position = stop + 2;
    } else {
      return position;
    }
  }
}

/* The offset at which the next line begins; -1 if there is none. */
static Py_ssize_t next_line(const Scanner *s, Py_ssize_t position) {
  const char *stop = position < s->size ? memchr(s->text + position, '\n', s->size - position) : NULL;
  return stop == NULL ? -1 : stop - s->text + 1;
}

/* A name; `position` itself if there is none. */
static Py_ssize_t skip_name(const Scanner *s, Py_ssize_t position) {
  unsigned char first = at(s, position);
  Py_ssize_t stop = position + 1;
  if (!is(first, LETTER) && !is(first, OTHER_NAME)) return position;
  while (is(at(s, stop), WORD) || at(s, stop) == '$') stop++;
  return is(first, LETTER) || stop > position + 1 ? stop : position;
}

/* A whole decimal number that nothing else of a word follows; `position` itself if there is none. */
static Py_ssize_t skip_whole(const Scanner *s, Py_ssize_t position) {
  unsigned char first = at(s, position);
  if (!is(first, DIGIT)) return position;
  Py_ssize_t stop = first == '0' ? position + 1 : skip(s, position, DIGIT);
  unsigned char next = at(s, stop);
  return is(next, WORD) || next == '$' || next == '.' ? position : stop;
}

/* Whether a word, which may end there, begins at an offset. */
static int starts(const Scanner *s, Py_ssize_t position, const char *word) {
  size_t length = strlen(word);
  return (Py_ssize_t)length <= s->size - position && !memcmp(s->text + position, word, length);
}

static int starts_word(const Scanner *s, Py_ssize_t position, const char *word) {
  return starts(s, position, word) && !is(at(s, position + (Py_ssize_t)strlen(word)), WORD);
}

/* Whether a name is the whole of a piece of text. */
static int is_name(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  return start < end && skip_name(s, start) == end;
}

static int is_equal(const Scanner *s, Py_ssize_t start, Py_ssize_t end, const char *word) {
  return end - start == (Py_ssize_t)strlen(word) && starts(s, start, word);
}

/* -- strings ------------------------------------------------------------------------------------------------ */

enum { TABLE_SIZE = 1 << 17, MOST_STRINGS = TABLE_SIZE / 2 };

typedef struct {
  PyObject *string;
  const char *text;
  Py_ssize_t length;
} Entry;

static Entry table[TABLE_SIZE];
static int strings;

static void clear_table(void) {
  for (int n = 0; n < TABLE_SIZE; n++) Py_CLEAR(table[n].string);
  strings = 0;
}

/* The interned string of a piece of ASCII text. */
static PyObject *string_of(const char *text, Py_ssize_t length) {
  unsigned hash = 2166136261u;
  for (Py_ssize_t n = 0; n < length; n++) hash = (hash ^ (unsigned char)text[n]) * 16777619u;
  unsigned place = (hash ^ hash >> 15) & (TABLE_SIZE - 1);
  while (table[place].string != NULL) {
    Entry *entry = &table[place];
    if (entry->length == length && !memcmp(entry->text, text, length)) return new_reference(entry->string);
    place = (place + 1) & (TABLE_SIZE - 1);
  }
  PyObject *string = PyUnicode_FromStringAndSize(text, length);
  if (string == NULL) return NULL;
  PyUnicode_InternInPlace(&string);
  Py_ssize_t size;
  const char *own = PyUnicode_AsUTF8AndSize(string, &size);
  if (own == NULL) {
    Py_DECREF(string);
    return NULL;
  }
  if (strings == MOST_STRINGS) {
    clear_table();
    place = (hash ^ hash >> 15) & (TABLE_SIZE - 1);
  }
  strings++;
  table[place] = (Entry){new_reference(string), own, length};
  return string;
}

static PyObject *piece(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  return string_of(s->text + start, end - start);
}

/* -- leaves ------------------------------------------------------------------------------------------------- */

static PyObject *name_node(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  return NEW_NODE(NAME, start - s->base, end - s->base, piece(s, start, end));
}

static PyObject *number_node(const Scanner *s, Py_ssize_t start, Py_ssize_t end, const char *kind) {
  return NEW_NODE(NUMBER, start - s->base, end - s->base, piece(s, start, end), string_of(kind, strlen(kind)));
}

static PyObject *whole_node(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  return number_node(s, start, end, "integer");
}

/* The kind of number that a piece of text is; NULL if it is none. */
static const char *number_kind(const Scanner *s, Py_ssize_t start, Py_ssize_t end) {
  unsigned char first = at(s, start), second = start + 1 < end ? at(s, start + 1) : 0;
  if (start == end || !is(first, DIGIT)) return NULL;
  if (first == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    int digits = second == 'f' || second == 'F' ? 8 : 16;
    return skip(s, start + 2, HEX) == end && end - start == digits + 2 ? "exact_float" : NULL;
  }
  Py_ssize_t stop = start;
  if (first == '0' && (second == 'x' || second == 'X')) {
    stop = skip(s, start + 2, HEX);
    if (stop == start + 2) return NULL;
  } else if (first == '0' && (second == 'b' || second == 'B')) {
    for (stop = start + 2; at(s, stop) == '0' || at(s, stop) == '1'; stop++) continue;
    if (stop == start + 2) return NULL;
  } else {
    stop = skip(s, start, DIGIT);
    if (stop < end && at(s, stop) == '.') {
      stop = skip(s, stop + 1, DIGIT);
      if (stop < end && (at(s, stop) == 'e' || at(s, stop) == 'E')) {
        Py_ssize_t exponent = skip(s, stop + 1, DIGIT);
        stop = exponent == stop + 1 ? stop : exponent;
      }
      return stop == end ? "float" : NULL;
    }
    for (Py_ssize_t n = start; first == '0' && n < stop; n++)
      if (at(s, n) > '7') return NULL;
  }
  if (stop < end && at(s, stop) == 'U') stop++;
  return stop == end ? "integer" : NULL;
}

#endif
