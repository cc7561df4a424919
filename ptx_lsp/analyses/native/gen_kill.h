/* The solver for gen and kill sets of blocks: `ptx_lsp/analyses/dataflow/bitvector_dataflow.py` has the definition. */

#ifndef PTX_GEN_KILL_H
#define PTX_GEN_KILL_H

#include "collections.h"

/* The blocks whose sets have changed, those that are late in the order first. */
typedef struct {
  Heap heap;
  char *is_queued;
  PyObject *ranks;
} ChangedBlocks;

static int add_changed(ChangedBlocks *changed, Py_ssize_t block) {
  if (changed->is_queued[block]) return 1;
  changed->is_queued[block] = 1;
  Py_ssize_t rank = PyLong_AsSsize_t(PyTuple_GetItem(changed->ranks, block));
  return !PyErr_Occurred() && push(&changed->heap, -rank, block, block);
}

/* Adds to the set of a block what is `live` after it and it keeps; false with an exception. */
static int add_live(PyObject *sets, PyObject *kept, Py_ssize_t block, PyObject *live, ChangedBlocks *changed) {
  PyObject *known = PyList_GetItem(sets, block);
  PyObject *through = PyNumber_And(live, PyList_GetItem(kept, block));
  PyObject *more = through == NULL ? NULL : PyNumber_Or(known, through);
  Py_XDECREF(through);
  int is_same = more == NULL ? -1 : PyObject_RichCompareBool(more, known, Py_EQ);
  if (is_same != 0) {
    Py_XDECREF(more);
    return is_same > 0;
  }
  return PyList_SetItem(sets, block, more) == 0 && add_changed(changed, block);
}

static PyObject *live_at_starts(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *predecessors, *gen, *kept;
  ChangedBlocks changed = {{0}, NULL, NULL};
  if (!PyArg_ParseTuple(arguments, "O!O!O!O!", &PyTuple_Type, &predecessors, &PyTuple_Type, &changed.ranks,
                        &PyList_Type, &gen, &PyList_Type, &kept))
    return NULL;
  Py_ssize_t count = PyTuple_Size(predecessors);
  if (PyTuple_Size(changed.ranks) != count || PyList_Size(gen) != count || PyList_Size(kept) != count)
    return PyErr_Format(PyExc_ValueError, "each block has predecessors, a rank and two sets");
  PyObject *sets = PyList_GetSlice(gen, 0, count);
  int failed = sets == NULL || (changed.is_queued = zeroed(count, 1)) == NULL;
  for (Py_ssize_t block = 0; block < count && !failed; block++) {
    int is_live = PyObject_IsTrue(PyList_GetItem(sets, block));
    failed = is_live < 0 || (is_live && !add_changed(&changed, block));
  }
  while (!failed && changed.heap.size) {
    Py_ssize_t block = pop(&changed.heap).item;
    changed.is_queued[block] = 0;
    PyObject *into = PyTuple_GetItem(predecessors, block), *live = new_reference(PyList_GetItem(sets, block));
    Py_ssize_t size = PyTuple_Size(into);
    failed = size < 0;
    for (Py_ssize_t n = 0; n < size && !failed; n++) {
      Py_ssize_t source = index_in(PyTuple_GetItem(into, n), count);
      failed = source < 0 || !add_live(sets, kept, source, live, &changed);
    }
    Py_DECREF(live);
  }
  if (failed) Py_CLEAR(sets);
  PyMem_Free(changed.is_queued);
  PyMem_Free(changed.heap.entries);
  return sets;
}

#endif
