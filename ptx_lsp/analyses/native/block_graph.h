/* The class `BlockGraph`: walks over one graph, which it reads once. */

#ifndef PTX_BLOCK_GRAPH_H
#define PTX_BLOCK_GRAPH_H

#include "graph.h"

/* The state of a walk. `seen`, `is_join` and `is_inside` have the number of the last walk for which that holds. */
typedef struct {
  Py_ssize_t walk, *seen, *label, *is_join, *is_inside, *joins, *inside, joined, count;
  Py_ssize_t *heap, heap_size, heap_capacity;
} Walker;

typedef struct {
  PyObject_HEAD
  Edges edges;
  Py_ssize_t *order, *rank; /* the blocks in reverse postorder, and the place of each there */
  Walker *spare;            /* what no thread uses: a collection of cycles may let others run */
} BlockGraph;

static void free_walker(Walker *walker) {
  if (walker != NULL) PyMem_Free(walker->heap);
  PyMem_Free(walker);
}

static Walker *begin_walker(BlockGraph *graph) {
  Py_ssize_t size = graph->edges.size;
  Walker *walker = graph->spare;
  graph->spare = NULL;
  if (walker == NULL) {
    walker = zeroed(1, sizeof *walker + 6 * size * sizeof *walker->seen);
    if (walker == NULL) return NULL;
    Py_ssize_t **arrays[] = {&walker->seen,      &walker->label, &walker->is_join,
                             &walker->is_inside, &walker->joins, &walker->inside};
    for (int n = 0; n < 6; n++) *arrays[n] = (Py_ssize_t *)(walker + 1) + n * size;
  }
  walker->walk++;
  walker->joined = walker->count = walker->heap_size = 0;
  return walker;
}

static void end_walker(BlockGraph *graph, Walker *walker) {
  if (graph->spare != NULL) free_walker(walker);
  else graph->spare = walker;
}

static int heap_push(Walker *walker, Py_ssize_t item) {
  if (walker->heap_size == walker->heap_capacity) {
    Py_ssize_t capacity = walker->heap_capacity ? 2 * walker->heap_capacity : 64;
    Py_ssize_t *heap = PyMem_Realloc(walker->heap, capacity * sizeof *heap);
    if (heap == NULL) return PyErr_NoMemory() != NULL;
    walker->heap = heap;
    walker->heap_capacity = capacity;
  }
  Py_ssize_t *heap = walker->heap, place = walker->heap_size++;
  while (place && heap[(place - 1) / 2] > item) {
    heap[place] = heap[(place - 1) / 2];
    place = (place - 1) / 2;
  }
  heap[place] = item;
  return 1;
}

static Py_ssize_t heap_pop(Walker *walker) {
  Py_ssize_t *heap = walker->heap, found = heap[0], item = heap[--walker->heap_size], place = 0;
  for (;;) {
    Py_ssize_t child = 2 * place + 1;
    if (child >= walker->heap_size) break;
    if (child + 1 < walker->heap_size && heap[child + 1] < heap[child]) child++;
    if (heap[child] >= item) break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = item;
  return found;
}

static PyObject *set_of_blocks(const Py_ssize_t *blocks, Py_ssize_t size) {
  PyObject *tuple = tuple_of_numbers(blocks, size);
  PyObject *found = tuple == NULL ? NULL : PyFrozenSet_New(tuple);
  Py_XDECREF(tuple);
  return found;
}

/* The joins of a branch; with the blocks of its region and the block where its paths end, if they are wanted. */
static PyObject *region_of(
    const Py_ssize_t *joins, Py_ssize_t joined, const Py_ssize_t *inside, Py_ssize_t count, Py_ssize_t end, int has_all) {
  PyObject *first = set_of_blocks(joins, joined);
  if (first == NULL || !has_all) return first;
  PyObject *second = set_of_blocks(inside, count);
  if (second != NULL) return Py_BuildValue("NNn", first, second, end);
  Py_DECREF(first);
  return NULL;
}

/* The region of a branch around one block, or to two blocks that meet at once; NULL for other branches. */
static PyObject *simple_region(const BlockGraph *graph, Py_ssize_t block, int has_all) {
  const Py_ssize_t *starts = graph->edges.starts, *targets = graph->edges.targets, *rank = graph->rank;
  if (starts[block + 1] - starts[block] != 2) return NULL;
  Py_ssize_t one = targets[starts[block]], other = targets[starts[block] + 1];
  if (rank[one] > rank[other]) {
    Py_ssize_t later = one;
    one = other;
    other = later;
  }
  if (rank[one] <= rank[block] || starts[one + 1] - starts[one] != 1) return NULL;
  Py_ssize_t join = targets[starts[one]], both[] = {one, other};
  if (join == other) return region_of(&join, 1, both, 1, join, has_all);
  if (starts[other + 1] - starts[other] == 1 && targets[starts[other]] == join && rank[join] > rank[other])
    return region_of(&join, 1, both, 2, join, has_all);
  return NULL;
}

/* Labels the target of an edge from `current`; whether its paths are to be followed (again). */
static int label_target(Walker *walker, Py_ssize_t current, Py_ssize_t target) {
  Py_ssize_t own = walker->label[current], known = walker->label[target];
  if (walker->seen[target] != walker->walk) {
    walker->seen[target] = walker->walk;
    walker->label[target] = own;
    return 1;
  }
  if (known == own) return 0;
  if (walker->is_join[target] != walker->walk) {
    walker->is_join[target] = walker->walk;
    walker->joins[walker->joined++] = target;
  }
  walker->label[target] = target;
  return known != target;
}

/* Follows the paths from a branch; the block where they end, or -1 with an exception. */
static Py_ssize_t follow_paths(
    const BlockGraph *graph, Walker *walker, Py_ssize_t block, Py_ssize_t end, int is_reducible) {
  Py_ssize_t size = graph->edges.size, exit = size - 1;
  const Py_ssize_t *starts = graph->edges.starts, *targets = graph->edges.targets, *rank = graph->rank;
  /* The heap has blocks by their ranks, plus `size` for each back edge on the path. */
  for (Py_ssize_t edge = starts[block]; edge < starts[block + 1]; edge++) {
    Py_ssize_t target = targets[edge], place = rank[target];
    if (walker->seen[target] == walker->walk) continue;
    walker->seen[target] = walker->walk;
    walker->label[target] = target;
    if (target != exit && !heap_push(walker, place > rank[block] ? place : place + size)) return -1;
  }
  int is_split = 0; /* some threads wait elsewhere already */
  while (walker->heap_size) {
    Py_ssize_t place = heap_pop(walker), index = place % size, current = graph->order[index];
    if (current == end || current == block) {
      is_split = 1;
      continue;
    }
    if (!walker->heap_size && !is_split && is_reducible) return current;
    if (walker->is_inside[current] != walker->walk) {
      walker->is_inside[current] = walker->walk;
      walker->inside[walker->count++] = current;
    }
    for (Py_ssize_t edge = starts[current]; edge < starts[current + 1]; edge++) {
      Py_ssize_t target = targets[edge];
      if (!label_target(walker, current, target) || target == exit) continue;
      Py_ssize_t step = rank[target] - index;
      if (!heap_push(walker, place + (step > 0 ? step : step + size))) return -1;
    }
  }
  return end;
}

static PyObject *found_region(BlockGraph *graph, Py_ssize_t block, Py_ssize_t end, int is_reducible, int has_all) {
  if (block < 0 || block >= graph->edges.size || end < 0 || end >= graph->edges.size) {
    PyErr_SetString(PyExc_IndexError, "the block is not in the graph");
    return NULL;
  }
  PyObject *found = simple_region(graph, block, has_all);
  if (found != NULL || PyErr_Occurred()) return found;
  Walker *walker = begin_walker(graph);
  if (walker == NULL) return NULL;
  end = follow_paths(graph, walker, block, end, is_reducible);
  if (end >= 0) found = region_of(walker->joins, walker->joined, walker->inside, walker->count, end, has_all);
  end_walker(graph, walker);
  return found;
}

static PyObject *divergent_region(PyObject *self, PyObject *arguments) {
  Py_ssize_t block, end;
  int is_reducible;
  if (!PyArg_ParseTuple(arguments, "nnp", &block, &end, &is_reducible)) return NULL;
  return found_region((BlockGraph *)self, block, end, is_reducible, 1);
}

static PyObject *joins_of(PyObject *self, PyObject *arguments) {
  Py_ssize_t block, end;
  if (!PyArg_ParseTuple(arguments, "nn", &block, &end)) return NULL;
  return found_region((BlockGraph *)self, block, end, 1, 0);
}

static PyObject *reachable(PyObject *self, PyObject *arguments) {
  BlockGraph *graph = (BlockGraph *)self;
  PyObject *from, *found = NULL;
  Py_ssize_t end, size = graph->edges.size, count = 0;
  if (!PyArg_ParseTuple(arguments, "O!n", &PyTuple_Type, &from, &end)) return NULL;
  const Py_ssize_t *starts = graph->edges.starts, *targets = graph->edges.targets;
  Walker *walker = begin_walker(graph);
  if (walker == NULL) return NULL;
  Py_ssize_t walk = walker->walk, *blocks = walker->inside, *seen = walker->seen;
  for (Py_ssize_t n = 0; n < PyTuple_Size(from); n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(from, n), size);
    if (block < 0) goto done;
    if (seen[block] != walk && block != end) blocks[count++] = block;
    seen[block] = walk;
  }
  for (Py_ssize_t next = 0; next < count; next++)
    for (Py_ssize_t edge = starts[blocks[next]]; edge < starts[blocks[next] + 1]; edge++) {
      Py_ssize_t target = targets[edge];
      if (seen[target] == walk || target == end) continue;
      seen[target] = walk;
      blocks[count++] = target;
    }
  found = set_of_blocks(blocks, count);
done:
  end_walker(graph, walker);
  return found;
}

static void block_graph_dealloc(PyObject *self) {
  BlockGraph *graph = (BlockGraph *)self;
  PyTypeObject *type = Py_TYPE(self);
  free_edges(&graph->edges);
  PyMem_Free(graph->order);
  PyMem_Free(graph->rank);
  free_walker(graph->spare);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject *block_graph_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"successors", "reverse_postorder", NULL};
  PyObject *successors, *order;
  if (!PyArg_ParseTupleAndKeywords(
          arguments, keywords, "O!O!", names, &PyTuple_Type, &successors, &PyTuple_Type, &order))
    return NULL;
  BlockGraph *graph = (BlockGraph *)PyType_GenericAlloc(type, 0);
  if (graph == NULL) return NULL;
  int failed = !read_edges(successors, &graph->edges);
  Py_ssize_t size = failed ? 0 : graph->edges.size, count = PyTuple_Size(order);
  graph->order = failed ? NULL : zeroed(size, sizeof *graph->order);
  graph->rank = failed ? NULL : zeroed(size, sizeof *graph->rank);
  failed = graph->order == NULL || graph->rank == NULL;
  if (!failed && count > size) {
    PyErr_SetString(PyExc_ValueError, "the order has too many blocks");
    failed = 1;
  }
  for (Py_ssize_t n = 0; n < count && !failed; n++) {
    Py_ssize_t block = index_in(PyTuple_GetItem(order, n), size);
    if (block < 0) {
      failed = 1;
    } else {
      graph->order[n] = block;
      graph->rank[block] = n;
    }
  }
  if (failed) Py_CLEAR(graph);
  return (PyObject *)graph;
}

static PyMethodDef block_graph_methods[] = {
    {"divergent_region", divergent_region, METH_VARARGS, NULL},
    {"joins", joins_of, METH_VARARGS, NULL},
    {"reachable", reachable, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot block_graph_slots[] = {
    {Py_tp_doc, "The edges between blocks, for walks over them."},
    {Py_tp_new, block_graph_new},
    {Py_tp_dealloc, block_graph_dealloc},
    {Py_tp_methods, block_graph_methods},
    {0, NULL}};

static PyType_Spec block_graph_spec = {
    "ptx_lsp.analyses._flow.BlockGraph", sizeof(BlockGraph), 0, Py_TPFLAGS_DEFAULT, block_graph_slots};

#endif
