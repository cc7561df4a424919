/* Renaming to SSA form: the walk over the dominator tree of `ptx_lsp/analyses/dataflow/ssa.py`. */

#ifndef PTX_RENAMING_H
#define PTX_RENAMING_H

#include "block_summary.h"
#include "block_values.h"
#include "graph.h"

enum { FLOW_LISTS = 5 };

/* A value that a register had, to be restored when the walk leaves a block. */
typedef struct {
  Py_ssize_t register_;
  PyObject *value;
} Saved;

typedef struct {
  Edges successors, children;
  PyObject *summaries, *phis; /* the phis of each block: tuples of register, value and the list of inputs */
  PyObject *lists[FLOW_LISTS], *firsts, *known; /* `firsts` also has the end of the last block */
  PyObject *current;                            /* the value of each register */
  Py_ssize_t count, limit;                      /* of registers; the next value */
  char *is_merged;
  Saved *saved;
  Py_ssize_t saved_count, saved_capacity;
} Renaming;

static int save(Renaming *r, Py_ssize_t register_) {
  if (r->saved_count == r->saved_capacity) {
    Py_ssize_t capacity = r->saved_capacity ? 2 * r->saved_capacity : 256;
    Saved *saved = PyMem_Realloc(r->saved, capacity * sizeof *saved);
    if (saved == NULL) return PyErr_NoMemory() != NULL;
    r->saved = saved;
    r->saved_capacity = capacity;
  }
  r->saved[r->saved_count++] = (Saved){register_, new_reference(PyList_GetItem(r->current, register_))};
  return 1;
}

static void restore(Renaming *r, Py_ssize_t count) {
  while (r->saved_count > count) {
    Saved *last = r->saved + --r->saved_count;
    PyList_SetItem(r->current, last->register_, last->value);
  }
}

/* Makes some values those of some registers; false with an exception. */
static int make_current(Renaming *r, PyObject *registers, PyObject *values) {
  Py_ssize_t size = PyTuple_Size(registers);
  if (size != PyTuple_Size(values)) PyErr_SetString(PyExc_ValueError, "each register has a value");
  for (Py_ssize_t n = 0; n < size && !PyErr_Occurred(); n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(registers, n), r->count);
    if (register_ >= 0) PyList_SetItem(r->current, register_, new_reference(PyTuple_GetItem(values, n)));
  }
  return !PyErr_Occurred();
}

/* The values of the instructions of a block; their number is added to `limit`. */
static PyObject *numbered(Renaming *r, Py_ssize_t block, Py_ssize_t *limit) {
  Py_ssize_t first = PyLong_AsSsize_t(PyList_GetItem(r->firsts, block));
  Py_ssize_t end = PyLong_AsSsize_t(PyList_GetItem(r->firsts, block + 1)), carry = ABSENT;
  if (PyErr_Occurred() || !are_lists_with(r->lists, FLOW_LISTS, first, end)) return NULL;
  PyObject *found = PyList_New(end - first);
  for (Py_ssize_t number = first; found != NULL && number < end; number++) {
    PyObject *values = number_instruction(r->lists, number, r->current, r->count, limit, &carry);
    if (values == NULL) Py_CLEAR(found);
    else PyList_SetItem(found, number - first, values);
  }
  return found;
}

/* The values of a block, after which `current` has those at its end. They are kept from the previous revision if the
 * block reads the same; otherwise at least the first number is, if the block was reached. */
static PyObject *values_of_block(Renaming *r, Py_ssize_t block, const BlockSummary *summary) {
  PyObject *inputs = current_values(summary->entry_registers, r->current, r->count);
  PyObject *before = PyList_GetItem(r->known, block);
  if (inputs == NULL || before == NULL) {
    Py_XDECREF(inputs);
    return NULL;
  }
  BlockValues *known = Py_TYPE(before) == block_values_type ? (BlockValues *)before : NULL;
  if (known != NULL && !known->is_reached) known = NULL;
  int is_same = known == NULL ? 0 : PyObject_RichCompareBool(known->inputs, inputs, Py_EQ);
  if (is_same) {
    Py_DECREF(inputs);
    return is_same < 0 || !make_current(r, summary->defined, known->last) ? NULL : new_reference(before);
  }
  Py_ssize_t first = known == NULL ? r->limit : known->first, end = first;
  PyObject *by_instruction = numbered(r, block, &end);
  if (by_instruction == NULL) {
    Py_DECREF(inputs);
    return NULL;
  }
  if (known == NULL) r->limit = end;
  PyObject *last = current_values(summary->defined, r->current, r->count);
  return new_block_values(first, end - first, inputs, by_instruction, last, 1);
}

/* Makes the phis of a block current; false with an exception. */
static int enter_phis(Renaming *r, PyObject *phis) {
  for (Py_ssize_t n = 0; n < PyList_Size(phis); n++) {
    PyObject *phi = PyList_GetItem(phis, n), *value = PyTuple_GetItem(phi, 1);
    Py_ssize_t register_ = value == NULL ? -1 : index_in(PyTuple_GetItem(phi, 0), r->count);
    if (register_ < 0 || !save(r, register_)) return 0;
    PyList_SetItem(r->current, register_, new_reference(value));
  }
  return 1;
}

/* Adds the current values to the phis of a successor; false with an exception. */
static int leave_for(Renaming *r, PyObject *phis) {
  for (Py_ssize_t n = 0; n < PyList_Size(phis); n++) {
    PyObject *phi = PyList_GetItem(phis, n), *inputs = PyTuple_GetItem(phi, 2);
    Py_ssize_t register_ = inputs == NULL ? -1 : index_in(PyTuple_GetItem(phi, 0), r->count);
    if (register_ < 0 || PyList_Append(inputs, PyList_GetItem(r->current, register_)) < 0) return 0;
  }
  return 1;
}

/* Saves the registers that may have phis and that the block writes; false with an exception. */
static int save_merged(Renaming *r, PyObject *defined) {
  for (Py_ssize_t n = 0; n < PyTuple_Size(defined); n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(defined, n), r->count);
    if (register_ < 0 || (r->is_merged[register_] && !save(r, register_))) return 0;
  }
  return 1;
}

/* The list of the phis of a block; NULL with an exception. */
static PyObject *phis_of(const Renaming *r, Py_ssize_t block) {
  PyObject *found = PyList_GetItem(r->phis, block);
  if (found == NULL || PyList_Check(found)) return found;
  PyErr_SetString(PyExc_TypeError, "each block has a list of phis");
  return NULL;
}

static PyObject *visit_block(Renaming *r, Py_ssize_t block) {
  PyObject *summary = PyList_GetItem(r->summaries, block), *phis = phis_of(r, block);
  if (summary == NULL || phis == NULL) return NULL;
  if (Py_TYPE(summary) != block_summary_type) {
    PyErr_SetString(PyExc_TypeError, "each block has a summary");
    return NULL;
  }
  BlockSummary *own = (BlockSummary *)summary;
  if (!enter_phis(r, phis) || !save_merged(r, own->defined)) return NULL;
  PyObject *found = values_of_block(r, block, own);
  const Edges *out = &r->successors;
  for (Py_ssize_t edge = out->starts[block]; edge < out->starts[block + 1] && found != NULL; edge++) {
    PyObject *of_target = phis_of(r, out->targets[edge]);
    if (of_target == NULL || !leave_for(r, of_target)) Py_CLEAR(found);
  }
  return found;
}

/* The values of each block, None for those that the walk does not reach. */
static PyObject *walk_tree(Renaming *r) {
  Py_ssize_t size = r->successors.size, depth = 0, *path = zeroed(2 * size, sizeof *path);
  Py_ssize_t *marks = zeroed(size, sizeof *marks); /* how much was saved before the walk entered each block */
  PyObject *found = path == NULL || marks == NULL ? NULL : PyList_New(size);
  for (Py_ssize_t block = 0; found != NULL && block < size; block++) PyList_SetItem(found, block, NONE);
  if (found != NULL) path[depth++] = 0;
  while (found != NULL && depth) {
    Py_ssize_t block = path[--depth];
    if (block < 0) {
      restore(r, marks[~block]);
      continue;
    }
    marks[block] = r->saved_count;
    PyObject *values = NULL;
    if (PyList_GetItem(found, block) == Py_None) values = visit_block(r, block);
    else PyErr_SetString(PyExc_ValueError, "a block has two parents");
    if (values == NULL) {
      Py_CLEAR(found);
      break;
    }
    PyList_SetItem(found, block, values);
    if (r->saved_count > marks[block]) path[depth++] = ~block;
    for (Py_ssize_t edge = r->children.starts[block]; edge < r->children.starts[block + 1]; edge++)
      path[depth++] = r->children.targets[edge];
  }
  restore(r, 0);
  PyMem_Free(path);
  PyMem_Free(marks);
  return found;
}

static PyObject *rename_values(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *successors, *children, *merged, *found = NULL;
  Renaming r = {.saved = NULL};
  if (!PyArg_ParseTuple(arguments, "O!O!O!O!O(OOOOO)O!O!O!n", &PyTuple_Type, &successors, &PyTuple_Type, &children,
                        &PyList_Type, &r.summaries, &PyList_Type, &r.phis, &merged, &r.lists[0], &r.lists[1],
                        &r.lists[2], &r.lists[3], &r.lists[4], &PyList_Type, &r.firsts, &PyList_Type, &r.known,
                        &PyList_Type, &r.current, &r.limit))
    return NULL;
  r.count = PyList_Size(r.current);
  r.is_merged = zeroed(r.count, 1);
  if (r.is_merged != NULL && mark_all(merged, r.is_merged, r.count) && read_edges(successors, &r.successors) &&
      read_edges(children, &r.children)) {
    Py_ssize_t size = r.successors.size;
    if (size && r.children.size == size && r.children.starts[size] < size) found = walk_tree(&r);
    else PyErr_SetString(PyExc_ValueError, "the tree is not of the graph");
  }
  free_edges(&r.successors);
  free_edges(&r.children);
  PyMem_Free(r.is_merged);
  PyMem_Free(r.saved);
  return found == NULL ? NULL : Py_BuildValue("Nn", found, r.limit);
}

#endif
