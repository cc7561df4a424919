/* Rows of numbers, a numbering of sparse numbers, and a heap. */

#ifndef PTX_COLLECTIONS_H
#define PTX_COLLECTIONS_H

#include "numbers.h"

/* Row `n` has the items from `starts[n]` up to `starts[n + 1]`. Rows are filled in order. */
typedef struct {
  Py_ssize_t size, capacity, *starts, *items;
} Rows;

static int new_rows(Rows *rows, Py_ssize_t most_rows) {
  memset(rows, 0, sizeof *rows);
  return (rows->starts = zeroed(most_rows + 1, sizeof *rows->starts)) != NULL;
}

static void free_rows(Rows *rows) {
  PyMem_Free(rows->starts);
  PyMem_Free(rows->items);
}

/* Adds an item to the row that is being filled. */
static inline int add_item(Rows *rows, Py_ssize_t item) {
  Py_ssize_t count = rows->starts[rows->size + 1];
  if (count == rows->capacity) {
    Py_ssize_t capacity = count ? 2 * count : 64;
    Py_ssize_t *items = PyMem_Realloc(rows->items, capacity * sizeof *items);
    if (items == NULL) return PyErr_NoMemory() != NULL;
    rows->items = items;
    rows->capacity = capacity;
  }
  rows->items[rows->starts[rows->size + 1]++] = item;
  return 1;
}

/* Begins the first row, or the next one; there must be as many as `new_rows` was told. */
static inline void begin_row(Rows *rows) { rows->starts[rows->size + 1] = rows->starts[rows->size]; }
static inline void end_row(Rows *rows) { rows->size++; }

static inline Py_ssize_t row_size(const Rows *rows, Py_ssize_t row) {
  return rows->starts[row + 1] - rows->starts[row];
}

/* Numbers in the order in which they were met: `numbers[place]`. */
typedef struct {
  Py_ssize_t mask, count, *slots, *numbers;
} Numbering;

/* For at most so many numbers; false with an exception. */
static int new_numbering(Numbering *numbering, Py_ssize_t most) {
  Py_ssize_t size = 16;
  while (size < 2 * most) size *= 2;
  numbering->mask = size - 1;
  numbering->count = 0;
  numbering->slots = zeroed(size, sizeof *numbering->slots);
  numbering->numbers = zeroed(most, sizeof *numbering->numbers);
  return numbering->slots != NULL && numbering->numbers != NULL;
}

static void free_numbering(Numbering *numbering) {
  PyMem_Free(numbering->slots);
  PyMem_Free(numbering->numbers);
}

/* The place of a number, which is added if it is new. */
static inline Py_ssize_t place_of(Numbering *numbering, Py_ssize_t number) {
  size_t at = (size_t)number * 0x9E3779B97F4A7C15u >> 7 & (size_t)numbering->mask;
  for (;; at = (at + 1) & (size_t)numbering->mask) {
    Py_ssize_t place = numbering->slots[at] - 1;
    if (place >= 0 && numbering->numbers[place] != number) continue;
    if (place >= 0) return place;
    numbering->numbers[numbering->count] = number;
    numbering->slots[at] = ++numbering->count;
    return numbering->count - 1;
  }
}

/* A heap, of which the smallest entry is the first, compared by `first`, then by `second`. */
typedef struct {
  Py_ssize_t first, second, item;
} Entry;

typedef struct {
  Py_ssize_t size, capacity;
  Entry *entries;
} Heap;

static inline int is_before(const Entry *one, const Entry *other) {
  return one->first < other->first || (one->first == other->first && one->second < other->second);
}

static int push(Heap *heap, Py_ssize_t first, Py_ssize_t second, Py_ssize_t item) {
  if (heap->size == heap->capacity) {
    Py_ssize_t capacity = heap->capacity ? 2 * heap->capacity : 64;
    Entry *entries = PyMem_Realloc(heap->entries, capacity * sizeof *entries);
    if (entries == NULL) return PyErr_NoMemory() != NULL;
    heap->entries = entries;
    heap->capacity = capacity;
  }
  Entry new = {first, second, item};
  Py_ssize_t at = heap->size++;
  for (; at && is_before(&new, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
    heap->entries[at] = heap->entries[(at - 1) / 2];
  heap->entries[at] = new;
  return 1;
}

/* Removes the first entry of a heap that is not empty. */
static Entry pop(Heap *heap) {
  Entry found = heap->entries[0], last = heap->entries[--heap->size];
  Py_ssize_t at = 0;
  for (Py_ssize_t below = 1; below < heap->size; below = 2 * at + 1) {
    if (below + 1 < heap->size && is_before(&heap->entries[below + 1], &heap->entries[below])) below++;
    if (!is_before(&heap->entries[below], &last)) break;
    heap->entries[at] = heap->entries[below];
    at = below;
  }
  heap->entries[at] = last;
  return found;
}

#endif
