/* Dominance frontiers, control dependences and divergent regions, whose size may grow with the square of the
 * graph: `ptx_lsp/analyses/control_flow/dominance.py` and `ptx_lsp/analyses/divergence/sync_dependence.py` define them. */

#ifndef PTX_REGIONS_H
#define PTX_REGIONS_H

#include "tree.h"

/* Lists of blocks, one for each block. */
typedef struct {
  Py_ssize_t size, count, capacity;
  Py_ssize_t *last;            /* the last item of each list; -1 if it is empty */
  Py_ssize_t *items, *before;  /* the block of each item, and the item before it */
} Lists;

static int new_lists(Lists *lists, Py_ssize_t size) {
  memset(lists, 0, sizeof *lists);
  lists->size = size;
  lists->last = zeroed(size, sizeof *lists->last);
  for (Py_ssize_t n = 0; lists->last != NULL && n < size; n++) lists->last[n] = -1;
  return lists->last != NULL;
}

static void free_lists(Lists *lists) {
  PyMem_Free(lists->last);
  PyMem_Free(lists->items);
  PyMem_Free(lists->before);
}

static inline int ends_with(const Lists *lists, Py_ssize_t list, Py_ssize_t block) {
  return lists->last[list] >= 0 && lists->items[lists->last[list]] == block;
}

static int add_to(Lists *lists, Py_ssize_t list, Py_ssize_t block) {
  if (lists->count == lists->capacity) {
    Py_ssize_t capacity = lists->capacity ? 2 * lists->capacity : 256;
    Py_ssize_t *items = PyMem_Realloc(lists->items, capacity * sizeof *items);
    if (items != NULL) lists->items = items;
    Py_ssize_t *before = PyMem_Realloc(lists->before, capacity * sizeof *before);
    if (before != NULL) lists->before = before;
    if (items == NULL || before == NULL) return PyErr_NoMemory() != NULL;
    lists->capacity = capacity;
  }
  lists->items[lists->count] = block;
  lists->before[lists->count] = lists->last[list];
  lists->last[list] = lists->count++;
  return 1;
}

/* A tuple with the list of each block, as a tuple or as a frozen set. */
static PyObject *tuple_of_lists(const Lists *lists, int are_sets) {
  PyObject *nothing = are_sets ? PyFrozenSet_New(NULL) : NO_ITEMS;
  PyObject *found = nothing == NULL ? NULL : PyTuple_New(lists->size);
  Py_ssize_t *own = found == NULL ? NULL : zeroed(lists->count, sizeof *own);
  for (Py_ssize_t n = 0; own != NULL && found != NULL && n < lists->size; n++) {
    Py_ssize_t first = lists->count, item = lists->last[n];
    for (; item >= 0; item = lists->before[item]) own[--first] = lists->items[item];
    PyObject *one = nothing;
    if (first == lists->count) {
      Py_INCREF(one);
    } else {
      one = tuple_of_numbers(own + first, lists->count - first);
      if (are_sets && one != NULL) {
        PyObject *tuple = one;
        one = PyFrozenSet_New(tuple);
        Py_DECREF(tuple);
      }
    }
    if (one == NULL) Py_CLEAR(found);
    else PyTuple_SetItem(found, n, one);
  }
  if (own == NULL) Py_CLEAR(found);
  Py_XDECREF(nothing);
  PyMem_Free(own);
  return found;
}

/* The lists with the number of visits; None instead if there were too many. Frees the lists. */
static PyObject *with_visits(Lists *lists, int are_sets, Py_ssize_t visits, Py_ssize_t most) {
  PyObject *found = NULL;
  if (!PyErr_Occurred()) {
    if (visits > most) {
      found = NONE;
    } else {
      PyObject *tuple = tuple_of_lists(lists, are_sets);
      if (tuple != NULL) found = Py_BuildValue("Nn", tuple, visits);
    }
  }
  free_lists(lists);
  return found;
}

static PyObject *dominance_frontiers(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *into_lists, *order, *tree, *found = NULL;
  Py_ssize_t most, visits = 0, *immediate = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!O!n", &PyTuple_Type, &into_lists, &PyTuple_Type, &order, &PyTuple_Type, &tree,
                        &most))
    return NULL;
  Edges into;
  Lists lists = {0};
  if (!read_edges(into_lists, &into) || !new_lists(&lists, into.size)) goto done;
  if ((immediate = read_parents(tree, into.size)) == NULL) goto done;
  Py_ssize_t count = PyTuple_Size(order);
  for (Py_ssize_t n = 0; n < count && visits <= most; n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(order, n), into.size), reached = 0;
    if (block < 0) goto done;
    for (Py_ssize_t edge = into.starts[block]; edge < into.starts[block + 1]; edge++) {
      Py_ssize_t source = into.targets[edge];
      reached += source == 0 || immediate[source] >= 0;
    }
    if (reached < 2 && block != 0) continue;
    for (Py_ssize_t edge = into.starts[block]; edge < into.starts[block + 1]; edge++) {
      Py_ssize_t source = into.targets[edge];
      if (source != 0 && immediate[source] < 0) continue;
      while (source != immediate[block] && source >= 0 && !ends_with(&lists, source, block)) {
        visits++;
        if (!add_to(&lists, source, block)) goto done;
        source = immediate[source];
      }
    }
  }
  found = with_visits(&lists, 1, visits, most);
  memset(&lists, 0, sizeof lists);
done:
  free_lists(&lists);
  free_edges(&into);
  PyMem_Free(immediate);
  return found;
}

static PyObject *control_dependences(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *out_lists, *order, *tree, *found = NULL;
  Py_ssize_t most, visits = 0, *above = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!O!n", &PyTuple_Type, &out_lists, &PyTuple_Type, &order, &PyTuple_Type, &tree,
                        &most))
    return NULL;
  Edges out;
  Lists lists = {0};
  if (!read_edges(out_lists, &out) || !new_lists(&lists, out.size)) goto done;
  if ((above = read_parents(tree, out.size)) == NULL) goto done;
  Py_ssize_t count = PyTuple_Size(order);
  for (Py_ssize_t n = 0; n < count && visits <= most; n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(order, n), out.size);
    if (block < 0) goto done;
    if (out.starts[block + 1] - out.starts[block] < 2) continue;
    for (Py_ssize_t edge = out.starts[block]; edge < out.starts[block + 1]; edge++)
      for (Py_ssize_t target = out.targets[edge]; target != above[block] && target >= 0; target = above[target]) {
        if (++visits > most) break;
        if (!ends_with(&lists, target, block) && !add_to(&lists, target, block)) goto done;
      }
  }
  found = with_visits(&lists, 0, visits, most);
  memset(&lists, 0, sizeof lists);
done:
  free_lists(&lists);
  free_edges(&out);
  PyMem_Free(above);
  return found;
}

/* The number of edges between each branch and its reconvergence point, together; some number above `most` if
 * there are more. */
static PyObject *region_edges(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *out_lists, *branches, *ends;
  Py_ssize_t most, visits = 0;
  if (!PyArg_ParseTuple(arguments, "O!O!O!n", &PyTuple_Type, &out_lists, &PyList_Type, &branches, &PyList_Type, &ends,
                        &most))
    return NULL;
  Edges out;
  Py_ssize_t *seen = NULL, *waiting = NULL, count = PyList_Size(branches);
  if (!read_edges(out_lists, &out)) goto done;
  seen = zeroed(out.size, sizeof *seen); /* the last branch, plus 1, that reached a block */
  waiting = zeroed(out.size, sizeof *waiting);
  if (seen == NULL || waiting == NULL) goto done;
  for (Py_ssize_t n = 0; n < count && visits <= most; n++) {
    Py_ssize_t block = index_in(PyList_GetItem(branches, n), out.size), left = 1;
    Py_ssize_t end = block < 0 ? -1 : index_in(PyList_GetItem(ends, n), out.size);
    if (end < 0) goto done;
    seen[block] = seen[end] = n + 1;
    waiting[0] = block;
    while (left && visits <= most) {
      Py_ssize_t from = waiting[--left];
      for (Py_ssize_t edge = out.starts[from]; edge < out.starts[from + 1]; edge++) {
        Py_ssize_t target = out.targets[edge];
        visits++;
        if (seen[target] != n + 1) {
          seen[target] = n + 1;
          waiting[left++] = target;
        }
      }
    }
  }
done:
  free_edges(&out);
  PyMem_Free(seen);
  PyMem_Free(waiting);
  return PyErr_Occurred() ? NULL : PyLong_FromSsize_t(visits);
}

#endif
