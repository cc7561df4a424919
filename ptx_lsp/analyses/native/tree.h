/* Trees of blocks, such as that of immediate dominators. */

#ifndef PTX_TREE_H
#define PTX_TREE_H

#include "graph.h"

/* Reads the immediate dominator of each block, or -1; NULL with an exception. */
static Py_ssize_t *read_parents(PyObject *tuple, Py_ssize_t size) {
  if (PyTuple_Size(tuple) != size) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the tree is not of the graph");
    return NULL;
  }
  Py_ssize_t *found = zeroed(size, sizeof *found);
  for (Py_ssize_t n = 0; found != NULL && n < size; n++) {
    found[n] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, n));
    if (found[n] < -1 || found[n] >= size || PyErr_Occurred()) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "a parent is not in the graph");
      PyMem_Free(found);
      return NULL;
    }
  }
  return found;
}

/* The depth of each block in its tree, its place in preorder, and the last place among its descendants. */
static PyObject *subtrees(PyObject *Py_UNUSED(module), PyObject *parents) {
  Py_ssize_t size = PyTuple_Size(parents), count = 0, left = 0;
  Py_ssize_t *parent = size < 0 ? NULL : read_parents(parents, size);
  Py_ssize_t *memory = parent == NULL ? NULL : zeroed(7 * size, sizeof *memory);
  if (memory == NULL) {
    PyMem_Free(parent);
    return NULL;
  }
  Py_ssize_t *depth = memory, *first = depth + size, *last = first + size, *walk = last + size;
  Py_ssize_t *waiting = walk + size, *child = waiting + size, *sibling = child + size; /* plus 1; 0 for none */
  for (Py_ssize_t block = size - 1; block >= 0; block--)
    if (parent[block] >= 0) {
      sibling[block] = child[parent[block]];
      child[parent[block]] = block + 1;
    }
  for (Py_ssize_t block = 0; block < size; block++)
    if (parent[block] < 0) waiting[left++] = block;
  while (left) {
    Py_ssize_t block = waiting[--left];
    first[block] = last[block] = count;
    walk[count++] = block;
    for (Py_ssize_t one = child[block]; one; one = sibling[one - 1]) {
      depth[one - 1] = depth[block] + 1;
      waiting[left++] = one - 1;
    }
  }
  while (count) {
    Py_ssize_t block = walk[--count], above = parent[block];
    if (above >= 0 && last[block] > last[above]) last[above] = last[block];
  }
  PyObject *lists[3];
  for (int n = 0; n < 3; n++) lists[n] = list_of_numbers(memory + n * size, size);
  PyMem_Free(parent);
  PyMem_Free(memory);
  PyObject *found = NULL;
  if (lists[0] != NULL && lists[1] != NULL && lists[2] != NULL) found = PyTuple_Pack(3, lists[0], lists[1], lists[2]);
  for (int n = 0; n < 3; n++) Py_XDECREF(lists[n]);
  return found;
}

#endif
