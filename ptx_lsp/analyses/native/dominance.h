/* Immediate dominators and post-dominators: `ptx_lsp/analyses/control_flow/dominance.py` defines them. */

#ifndef PTX_DOMINANCE_H
#define PTX_DOMINANCE_H

#include "graph.h"

/* The state of the algorithm of Lengauer and Tarjan (1979). Blocks are called by their places in a depth-first walk,
 * in preorder. `first` and `next` list the blocks with the same semidominator. */
typedef struct {
  Py_ssize_t count, *walk, *place, *parent, *semi, *least, *ancestor, *path, *found, *first, *next, *memory;
} Tree;

enum { TREE_ARRAYS = 10 };

/* Walks over the graph from `root`; false with an exception. */
static int span(Tree *tree, const Edges *out, Py_ssize_t root) {
  Py_ssize_t size = out->size, edges = out->starts[size] + 1;
  tree->memory = zeroed(TREE_ARRAYS * size + 2 * edges, sizeof *tree->memory);
  if (tree->memory == NULL) return 0;
  Py_ssize_t **arrays[TREE_ARRAYS] = {&tree->walk,     &tree->place, &tree->parent, &tree->semi,  &tree->least,
                                      &tree->ancestor, &tree->path,  &tree->found,  &tree->first, &tree->next};
  for (int n = 0; n < TREE_ARRAYS; n++) *arrays[n] = tree->memory + n * size;
  Py_ssize_t *waiting = tree->memory + TREE_ARRAYS * size, *above = waiting + edges, left = 1;
  for (Py_ssize_t block = 0; block < size; block++) tree->place[block] = -1;
  tree->count = 0;
  waiting[0] = root;
  above[0] = 0;
  while (left) {
    Py_ssize_t block = waiting[--left], parent = above[left];
    if (tree->place[block] >= 0) continue;
    Py_ssize_t here = tree->place[block] = tree->count++;
    tree->walk[here] = block;
    tree->parent[here] = parent;
    for (Py_ssize_t edge = out->starts[block + 1] - 1; edge >= out->starts[block]; edge--)
      if (tree->place[out->targets[edge]] < 0) {
        waiting[left] = out->targets[edge];
        above[left++] = here;
      }
  }
  return 1;
}

/* The block with the least semidominator on the path from `start` up to the last linked block. Blocks after
 * `last` are linked. The path is compressed. */
static Py_ssize_t least_on_path(Tree *tree, Py_ssize_t start, Py_ssize_t last) {
  if (start <= last) return start;
  Py_ssize_t length = 0, above = start;
  while (tree->ancestor[above] > last) {
    tree->path[length++] = above;
    above = tree->ancestor[above];
  }
  while (length) {
    Py_ssize_t one = tree->path[--length];
    if (tree->semi[tree->least[above]] < tree->semi[tree->least[one]]) tree->least[one] = tree->least[above];
    tree->ancestor[one] = tree->ancestor[above];
    above = one;
  }
  return tree->least[start];
}

/* The immediate dominator of each block, -1 for the root and for blocks that it does not reach. */
static PyObject *immediate_from(const Edges *out, const Edges *into, Py_ssize_t root) {
  Tree tree;
  if (!span(&tree, out, root)) return NULL;
  Py_ssize_t *found = tree.found, *first = tree.first, *next = tree.next;
  for (Py_ssize_t here = 0; here < tree.count; here++) {
    tree.semi[here] = tree.least[here] = here;
    tree.ancestor[here] = tree.parent[here];
    first[here] = -1;
  }
  for (Py_ssize_t here = tree.count - 1; here > 0; here--) {
    Py_ssize_t lowest = here, block = tree.walk[here], parent = tree.parent[here];
    for (Py_ssize_t edge = into->starts[block]; edge < into->starts[block + 1]; edge++) {
      Py_ssize_t other = tree.place[into->targets[edge]];
      if (other > here) other = tree.semi[least_on_path(&tree, other, here)];
      if (other >= 0 && other < lowest) lowest = other;
    }
    tree.semi[here] = lowest;
    next[here] = first[lowest];
    first[lowest] = here;
    for (Py_ssize_t one = first[parent]; one >= 0; one = next[one]) {
      Py_ssize_t least = least_on_path(&tree, one, here - 1);
      found[one] = tree.semi[least] < parent ? least : parent; /* or what dominates `least` */
    }
    first[parent] = -1;
  }
  Py_ssize_t *immediate = tree.path;
  for (Py_ssize_t block = 0; block < out->size; block++) immediate[block] = -1;
  for (Py_ssize_t here = 1; here < tree.count; here++) {
    if (found[here] != tree.semi[here]) found[here] = found[found[here]];
    immediate[tree.walk[here]] = tree.walk[found[here]];
  }
  PyObject *result = tuple_of_numbers(immediate, out->size);
  PyMem_Free(tree.memory);
  return result;
}

static PyObject *immediate_dominators(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *out_lists, *into_lists, *found = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!", &PyTuple_Type, &out_lists, &PyTuple_Type, &into_lists)) return NULL;
  Edges out, into = {0, NULL, NULL};
  if (read_edges(out_lists, &out) && read_edges(into_lists, &into)) {
    if (out.size != into.size || !out.size) PyErr_SetString(PyExc_ValueError, "the graph is not complete");
    else found = immediate_from(&out, &into, 0);
  }
  free_edges(&out);
  free_edges(&into);
  return found;
}

/* Marks a block and all blocks reachable from it without passing a marked block. */
static void spread(const Edges *edges, Py_ssize_t start, char *marked, Py_ssize_t *waiting) {
  Py_ssize_t left = 1;
  waiting[0] = start;
  marked[start] = 1;
  while (left) {
    Py_ssize_t block = waiting[--left];
    for (Py_ssize_t edge = edges->starts[block]; edge < edges->starts[block + 1]; edge++) {
      Py_ssize_t target = edges->targets[edge];
      if (!marked[target]) {
        marked[target] = 1;
        waiting[left++] = target;
      }
    }
  }
}

/* Adds an edge to `exit`, the last block, from each block that `leaving` marks; false with an exception. */
static int join_to_exit(Edges *out, Edges *into, const char *leaving) {
  Py_ssize_t size = out->size, exit = size - 1, more = 0;
  for (Py_ssize_t block = 0; block < size; block++) more += leaving[block];
  if (!more) return 1;
  Py_ssize_t *targets = zeroed(out->starts[size] + more, sizeof *targets), count = 0, edge = 0;
  Py_ssize_t *sources = PyMem_Realloc(into->targets, (into->starts[size] + more) * sizeof *sources);
  if (sources != NULL) into->targets = sources;
  if (targets == NULL || sources == NULL) {
    PyMem_Free(targets);
    return PyErr_NoMemory() != NULL;
  }
  for (Py_ssize_t block = 0; block < size; block++) {
    while (edge < out->starts[block + 1]) targets[count++] = out->targets[edge++];
    if (leaving[block]) {
      targets[count++] = exit;
      sources[into->starts[size]++] = block;
    }
    out->starts[block + 1] = count;
  }
  PyMem_Free(out->targets);
  out->targets = targets;
  return 1;
}

static PyObject *immediate_postdominators(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *out_lists, *into_lists, *order, *found = NULL;
  if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyTuple_Type, &out_lists, &PyTuple_Type, &into_lists, &PyTuple_Type,
                        &order))
    return NULL;
  Edges out, into = {0, NULL, NULL};
  char *marked = NULL, *leaving = NULL;
  Py_ssize_t *waiting = NULL;
  if (!read_edges(out_lists, &out) || !read_edges(into_lists, &into)) goto done;
  Py_ssize_t size = out.size;
  if (size != into.size || !size) {
    PyErr_SetString(PyExc_ValueError, "the graph is not complete");
    goto done;
  }
  marked = zeroed(size, 1);
  leaving = zeroed(size, 1);
  waiting = zeroed(size, sizeof *waiting);
  if (marked == NULL || leaving == NULL || waiting == NULL) goto done;
  spread(&into, size - 1, marked, waiting);
  for (Py_ssize_t n = PyTuple_Size(order) - 1; n >= 0; n--) {
    Py_ssize_t block = index_in(PyTuple_GetItem(order, n), size);
    if (block < 0) goto done;
    if (marked[block]) continue;
    leaving[block] = 1; /* an endless loop */
    spread(&into, block, marked, waiting);
  }
  if (join_to_exit(&out, &into, leaving)) found = immediate_from(&into, &out, size - 1);
done:
  free_edges(&out);
  free_edges(&into);
  PyMem_Free(marked);
  PyMem_Free(leaving);
  PyMem_Free(waiting);
  return found;
}

#endif
