/* The edges of a graph of blocks as arrays, and walks over them. */

#ifndef PTX_GRAPH_H
#define PTX_GRAPH_H

#include "numbers.h"

/* The adjacent blocks of block `b` are `targets[starts[b]]` up to `targets[starts[b + 1]]`. */
typedef struct {
  Py_ssize_t size, *starts, *targets;
} Edges;

static void free_edges(Edges *edges) {
  PyMem_Free(edges->starts);
  PyMem_Free(edges->targets);
  edges->starts = edges->targets = NULL;
}

/* Reads a tuple of tuples; false with an exception. `free_edges` frees it in any case. */
static int read_edges(PyObject *lists, Edges *edges) {
  Py_ssize_t size = PyTuple_Size(lists), count = 0;
  edges->starts = edges->targets = NULL;
  if (size < 0) return 0;
  edges->size = size;
  edges->starts = zeroed(size + 1, sizeof *edges->starts);
  if (edges->starts == NULL) return 0;
  for (Py_ssize_t block = 0; block < size; block++) {
    Py_ssize_t own = PyTuple_Size(PyTuple_GetItem(lists, block));
    if (own < 0) return 0;
    edges->starts[block + 1] = count += own;
  }
  edges->targets = zeroed(count, sizeof *edges->targets);
  if (edges->targets == NULL) return 0;
  for (Py_ssize_t block = 0, place = 0; block < size; block++) {
    PyObject *own = PyTuple_GetItem(lists, block);
    for (; place < edges->starts[block + 1]; place++) {
      edges->targets[place] = index_in(PyTuple_GetItem(own, place - edges->starts[block]), size);
      if (edges->targets[place] < 0) return 0;
    }
  }
  return 1;
}

static PyObject *reverse_postorder(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *lists, *found = NULL;
  Py_ssize_t root;
  if (!PyArg_ParseTuple(arguments, "O!n", &PyTuple_Type, &lists, &root)) return NULL;
  Edges edges;
  Py_ssize_t *next = NULL, *path = NULL, *order = NULL;
  if (!read_edges(lists, &edges)) goto done;
  if (root < 0 || root >= edges.size) {
    PyErr_SetString(PyExc_IndexError, "the root is not in the graph");
    goto done;
  }
  next = zeroed(edges.size, sizeof *next); /* the edge to follow next, plus 1; 0 if the block is not reached */
  path = zeroed(edges.size, sizeof *path);
  order = zeroed(edges.size, sizeof *order);
  if (next == NULL || path == NULL || order == NULL) goto done;
  Py_ssize_t depth = 0, place = edges.size;
  path[0] = root;
  next[root] = edges.starts[root] + 1;
  while (depth >= 0) {
    Py_ssize_t block = path[depth];
    if (next[block] > edges.starts[block + 1]) {
      order[--place] = block;
      depth--;
      continue;
    }
    Py_ssize_t target = edges.targets[next[block]++ - 1];
    if (!next[target]) {
      path[++depth] = target;
      next[target] = edges.starts[target] + 1;
    }
  }
  found = tuple_of_numbers(order + place, edges.size - place);
done:
  free_edges(&edges);
  PyMem_Free(next);
  PyMem_Free(path);
  PyMem_Free(order);
  return found;
}

#endif
