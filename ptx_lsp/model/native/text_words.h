/* Words that occur in a text (`ptx_lsp/lint/configuration/selection.py`). */

#ifndef PTX_TEXT_WORDS_H
#define PTX_TEXT_WORDS_H

#include "objects.h"

enum { PAIRS = 1 << 16 };

typedef struct {
  const char *bytes;
  Py_ssize_t size, next; /* the next word with the same first two bytes, plus 1 */
  int is_found;
} Word;

static inline unsigned pair_at(const char *bytes) { return (unsigned char)bytes[0] << 8 | (unsigned char)bytes[1]; }

/* Looks for words of two bytes or more. `first` has the first word, plus 1, that begins with each pair of bytes. */
static void find_words(const char *text, Py_ssize_t size, Word *words, const unsigned short *first) {
  for (Py_ssize_t at = 0; at + 1 < size; at++) {
    Py_ssize_t place = first[pair_at(text + at)];
    for (; place; place = words[place - 1].next) {
      Word *word = words + place - 1;
      if (!word->is_found && word->size <= size - at && !memcmp(text + at, word->bytes, word->size)) word->is_found = 1;
    }
  }
}

/* Reads the words, and links those that begin with the same two bytes; false with an exception. */
static int read_words(PyObject *given, Word *words, unsigned short *first, const char *text, Py_ssize_t size) {
  for (Py_ssize_t n = 0; n < PyList_Size(given); n++) {
    Word *word = words + n;
    word->bytes = PyUnicode_AsUTF8AndSize(PyList_GetItem(given, n), &word->size);
    if (word->bytes == NULL) return 0;
    if (word->size < 2) {
      word->is_found = !word->size || memchr(text, *word->bytes, size) != NULL;
      continue;
    }
    unsigned pair = pair_at(word->bytes);
    word->next = first[pair];
    first[pair] = (unsigned short)(n + 1);
  }
  return 1;
}

static PyObject *core_words_in(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_valid(count == 2 && PyBytes_Check(given[0]) && PyList_Check(given[1]) && PyList_Size(given[1]) < PAIRS,
                 "words_in"))
    return NULL;
  const char *text = PyBytes_AsString(given[0]);
  Py_ssize_t size = PyBytes_Size(given[0]), words_size = PyList_Size(given[1]);
  Word *words = PyMem_Calloc(words_size ? words_size : 1, sizeof *words);
  unsigned short *first = PyMem_Calloc(PAIRS, sizeof *first);
  PyObject *found = words == NULL || first == NULL ? PyErr_NoMemory() : PySet_New(NULL);
  if (found != NULL && !read_words(given[1], words, first, text, size)) Py_CLEAR(found);
  if (found != NULL) find_words(text, size, words, first);
  for (Py_ssize_t n = 0; found != NULL && n < words_size; n++)
    if (words[n].is_found && PySet_Add(found, PyList_GetItem(given[1], n)) < 0) Py_CLEAR(found);
  PyMem_Free(words);
  PyMem_Free(first);
  return found;
}

#endif
