/* Natural loops: `ptx_lsp/analyses/control_flow/dominance.py` defines them. */

#ifndef PTX_LOOPS_H
#define PTX_LOOPS_H

#include "regions.h"

/* The blocks of a graph for which loops are searched. */
typedef struct {
  Edges out, into;
  Py_ssize_t *rank;           /* in reverse postorder, from 1; 0 if a block is not reached */
  Py_ssize_t *first, *last;   /* the place in a preorder of the dominator tree, and the last of the descendants */
  Py_ssize_t *seen, *waiting; /* the last header, plus 1, whose loop a block is in; blocks to visit */
  Py_ssize_t *memory;
} LoopSearch;

enum { LOOP_ARRAYS = 5 };

/* Reads the order and the tree; false with an exception. */
static int read_orders(LoopSearch *search, PyObject *order, PyObject *first, PyObject *last) {
  Py_ssize_t size = search->out.size;
  if (search->into.size != size || PyList_Size(first) != size || PyList_Size(last) != size) {
    PyErr_SetString(PyExc_ValueError, "the tree is not of the graph");
    return 0;
  }
  search->memory = zeroed(LOOP_ARRAYS * size, sizeof *search->memory);
  if (search->memory == NULL) return 0;
  Py_ssize_t **arrays[LOOP_ARRAYS] = {&search->rank, &search->first, &search->last, &search->seen, &search->waiting};
  for (int n = 0; n < LOOP_ARRAYS; n++) *arrays[n] = search->memory + n * size;
  for (Py_ssize_t n = 0; n < PyTuple_Size(order); n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(order, n), size);
    if (block < 0) return 0;
    if (search->rank[block]) {
      PyErr_SetString(PyExc_ValueError, "the order has a block twice");
      return 0;
    }
    search->rank[block] = n + 1;
  }
  for (Py_ssize_t block = 0; block < size; block++) {
    search->first[block] = PyLong_AsSsize_t(PyList_GetItem(first, block));
    search->last[block] = PyLong_AsSsize_t(PyList_GetItem(last, block));
  }
  return !PyErr_Occurred();
}

/* Adds the sources of the back edges to each header, in reverse postorder; false with an exception. */
static int find_latches(const LoopSearch *search, PyObject *order, Lists *latches) {
  for (Py_ssize_t n = 0; n < PyTuple_Size(order); n++) {
    Py_ssize_t block = PyLong_AsSsize_t(PyTuple_GetItem(order, n)), place = search->first[block];
    for (Py_ssize_t edge = search->out.starts[block]; edge < search->out.starts[block + 1]; edge++) {
      Py_ssize_t target = search->out.targets[edge];
      if (!search->rank[target] || search->rank[target] > search->rank[block]) continue;
      if (search->first[target] > place || search->last[target] < place) continue; /* it does not dominate `block` */
      if (!ends_with(latches, target, block) && !add_to(latches, target, block)) return 0;
    }
  }
  return 1;
}

/* The blocks of the loop of a header, which `waiting` has then, and how many there are. */
static Py_ssize_t blocks_of_loop(const LoopSearch *search, Py_ssize_t head, const Lists *latches) {
  Py_ssize_t count = 0, mark = head + 1;
  search->seen[head] = mark;
  search->waiting[count++] = head;
  for (Py_ssize_t item = latches->last[head]; item >= 0; item = latches->before[item]) {
    Py_ssize_t block = latches->items[item];
    if (search->seen[block] == mark) continue;
    search->seen[block] = mark;
    search->waiting[count++] = block;
  }
  for (Py_ssize_t next = 1; next < count; next++) {
    Py_ssize_t block = search->waiting[next];
    for (Py_ssize_t edge = search->into.starts[block]; edge < search->into.starts[block + 1]; edge++) {
      Py_ssize_t source = search->into.targets[edge];
      if (!search->rank[source] || search->seen[source] == mark) continue;
      search->seen[source] = mark;
      search->waiting[count++] = source;
    }
  }
  return count;
}

/* A loop as its header, its blocks and its latches; NULL with an exception. */
static PyObject *new_loop(const LoopSearch *search, Py_ssize_t head, Py_ssize_t count, const Lists *latches) {
  PyObject *blocks = tuple_of_numbers(search->waiting, count), *set = blocks == NULL ? NULL : PyFrozenSet_New(blocks);
  Py_XDECREF(blocks);
  Py_ssize_t sources = 0, item;
  for (item = latches->last[head]; item >= 0; item = latches->before[item]) sources++;
  Py_ssize_t n = sources;
  for (item = latches->last[head]; item >= 0; item = latches->before[item]) search->waiting[--n] = latches->items[item];
  PyObject *own = set == NULL ? NULL : tuple_of_numbers(search->waiting, sources);
  PyObject *found = own == NULL ? NULL : Py_BuildValue("nOO", head, set, own);
  Py_XDECREF(set);
  Py_XDECREF(own);
  return found;
}

/* The loops in the order of their headers; NULL with an exception. They are not all if `visits` exceeds `most`. */
static PyObject *loops_of(const LoopSearch *search, const Lists *latches, Py_ssize_t *visits, Py_ssize_t most) {
  PyObject *found = PyList_New(0);
  for (Py_ssize_t head = 0; found != NULL && head < latches->size && *visits <= most; head++) {
    if (latches->last[head] < 0) continue;
    Py_ssize_t count = blocks_of_loop(search, head, latches);
    *visits += count - 1;
    PyObject *loop = new_loop(search, head, count, latches);
    if (loop == NULL || PyList_Append(found, loop) < 0) Py_CLEAR(found);
    Py_XDECREF(loop);
  }
  return found;
}

static PyObject *natural_loops(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *out_lists, *into_lists, *order, *first, *last, *loops = NULL, *found = NULL;
  Py_ssize_t most, visits = 0;
  if (!PyArg_ParseTuple(arguments, "O!O!O!O!O!n", &PyTuple_Type, &out_lists, &PyTuple_Type, &into_lists, &PyTuple_Type,
                        &order, &PyList_Type, &first, &PyList_Type, &last, &most))
    return NULL;
  LoopSearch search = {0};
  Lists latches = {0};
  if (read_edges(out_lists, &search.out) && read_edges(into_lists, &search.into) &&
      read_orders(&search, order, first, last) && new_lists(&latches, search.out.size) &&
      find_latches(&search, order, &latches))
    loops = loops_of(&search, &latches, &visits, most);
  if (loops != NULL) found = visits > most ? NONE : Py_BuildValue("On", loops, visits);
  Py_XDECREF(loops);
  free_edges(&search.out);
  free_edges(&search.into);
  free_lists(&latches);
  PyMem_Free(search.memory);
  return found;
}

#endif
