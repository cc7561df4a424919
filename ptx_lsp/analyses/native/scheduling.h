/* Orders of the instructions of a straight-line region and their register pressure:
 * `ptx_lsp/analyses/registers/scheduling/list_scheduling.py` defines them. */

#ifndef PTX_SCHEDULING_H
#define PTX_SCHEDULING_H

#include "dependence.h"

/* Reads a list of `count` numbers; NULL with an exception. */
static Py_ssize_t *read_numbers(PyObject *list, Py_ssize_t count) {
  if (!are_lists_with(&list, 1, 0, count)) return NULL;
  Py_ssize_t *found = zeroed(count, sizeof *found);
  for (Py_ssize_t n = 0; n < count && found != NULL; n++) found[n] = PyLong_AsSsize_t(PyList_GetItem(list, n));
  if (!PyErr_Occurred()) return found;
  PyMem_Free(found);
  return NULL;
}

/* Reads an order of `count` instructions; NULL with an exception. */
static Py_ssize_t *read_order(PyObject *list, Py_ssize_t count) {
  Py_ssize_t *found = read_numbers(list, count);
  unsigned char *seen = found == NULL ? NULL : zeroed(count, 1);
  int failed = seen == NULL || PyList_Size(list) != count;
  for (Py_ssize_t n = 0; n < count && !failed; n++) {
    failed = found[n] < 0 || found[n] >= count || seen[found[n]];
    if (!failed) seen[found[n]] = 1;
  }
  PyMem_Free(seen);
  if (!failed) return found;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "an order has each instruction once");
  PyMem_Free(found);
  return NULL;
}

/* -- additional registers --------------------------------------------------------------------------------- */

/* What an instruction needs besides its operands (`machine_kind.additional_registers`): the lower bits count in any
 * case. The upper ones are of a slow path, which needs so many besides the registers that are live across it, if these
 * are few. */
enum { SLOW_PATH = 8, MOST_ACROSS = 14 };

static Py_ssize_t with_more(Py_ssize_t around, Py_ssize_t across, Py_ssize_t more) {
  Py_ssize_t slow = across <= MOST_ACROSS ? across + (more >> SLOW_PATH) : 0;
  around += more & ((1 << SLOW_PATH) - 1);
  return around > slow ? around : slow;
}

/* -- profiles ------------------------------------------------------------------------------------------- */

/* The virtual registers that are live at one point. `is_counted` has a flag for each name: those without do not
 * count. */
typedef struct {
  unsigned char *is_live;
  const char *is_counted;
  Py_ssize_t count;
} Live;

static void set_live(Live *live, Py_ssize_t name, int is_live) {
  if (live->is_counted[name]) live->count += is_live - live->is_live[name];
  live->is_live[name] = (unsigned char)is_live;
}

/* Those that are live after the region; false with an exception. */
static int begin_live(Live *live, const Operands *operands, const char *is_counted, Py_ssize_t size) {
  live->count = 0;
  live->is_counted = is_counted;
  if (size != operands->names) {
    PyErr_SetString(PyExc_ValueError, "there is a flag for each name");
    return 0;
  }
  live->is_live = zeroed(operands->names, 1);
  if (live->is_live == NULL) return 0;
  for (Py_ssize_t n = 0; n < operands->live_count; n++) set_live(live, operands->live_out[n], 1);
  return 1;
}

/* How many names in a row count, whether live or not. */
static Py_ssize_t count_all(const Live *live, const Rows *rows, Py_ssize_t number) {
  Py_ssize_t found = 0;
  for (Py_ssize_t at = rows->starts[number]; at < rows->starts[number + 1]; at++)
    found += live->is_counted[rows->items[at]] != 0;
  return found;
}

/* How many of them are not live. */
static Py_ssize_t count_new(const Live *live, const Rows *rows, Py_ssize_t number) {
  Py_ssize_t found = 0;
  for (Py_ssize_t at = rows->starts[number]; at < rows->starts[number + 1]; at++)
    found += live->is_counted[rows->items[at]] && !live->is_live[rows->items[at]];
  return found;
}

static int is_kept(const Operands *operands, Py_ssize_t number, Py_ssize_t name) {
  const Rows *kept = &operands->kept;
  for (Py_ssize_t at = kept->starts[number]; at < kept->starts[number + 1]; at++)
    if (kept->items[at] == name) return 1;
  return 0;
}

/* The definitions of an instruction end what is live. */
static void end_definitions(Live *live, const Operands *operands, Py_ssize_t number) {
  for (Py_ssize_t at = operands->defs.starts[number]; at < operands->defs.starts[number + 1]; at++)
    if (!is_kept(operands, number, operands->defs.items[at])) set_live(live, operands->defs.items[at], 0);
}

static PyObject *operands_profile(PyObject *self, PyObject *arguments) {
  const Operands *operands = (Operands *)self;
  PyObject *given_order, *given_more, *found = NULL;
  const char *is_counted;
  Py_ssize_t names, count = operands->count;
  if (!PyArg_ParseTuple(arguments, "O!O!y#", &PyList_Type, &given_order, &PyList_Type, &given_more, &is_counted, &names))
    return NULL;
  Live live = {0};
  Py_ssize_t *order = read_order(given_order, count), *more = NULL, *around = NULL, *sizes = NULL;
  if (order == NULL || (more = read_numbers(given_more, count)) == NULL) goto done;
  around = zeroed(count, sizeof *around);
  sizes = zeroed(count, sizeof *sizes);
  if (around == NULL || sizes == NULL || !begin_live(&live, operands, is_counted, names)) goto done;
  for (Py_ssize_t turn = count - 1; turn >= 0; turn--) {
    Py_ssize_t number = order[turn], peak = live.count + count_new(&live, &operands->defs, number);
    end_definitions(&live, operands, number);
    Py_ssize_t left = live.count;
    for (Py_ssize_t at = operands->uses.starts[number]; at < operands->uses.starts[number + 1]; at++)
      set_live(&live, operands->uses.items[at], 1);
    around[turn] = with_more(peak > live.count ? peak : live.count, left, more[number]);
    sizes[turn] = count_all(&live, &operands->defs, number) - live.count + left;
  }
  found = Py_BuildValue("NN", list_of_numbers(around, count), list_of_numbers(sizes, count));
done:
  PyMem_Free(live.is_live);
  PyMem_Free(order);
  PyMem_Free(more);
  PyMem_Free(around);
  PyMem_Free(sizes);
  return found;
}

/* -- the order of minimal pressure ---------------------------------------------------------------------- */

typedef struct {
  const Operands *operands;
  Live live;
  Heap ready; /* by cost, then the last in the text first */
  Rows fresh; /* the definitions of each instruction that it does not read */
  unsigned char *is_taken;
  Py_ssize_t *last_reader, *before, *readers, reader_count; /* instructions that read a name, from 1 */
} Ordering;

/* How many more virtual registers are live before an instruction than after it. */
static Py_ssize_t cost(const Ordering *ordering, Py_ssize_t number) {
  const Rows *fresh = &ordering->fresh;
  const Live *live = &ordering->live;
  return count_new(live, &ordering->operands->uses, number) + count_new(live, fresh, number) -
         count_all(live, fresh, number);
}

static int push_ready(Ordering *ordering, Py_ssize_t number) {
  return push(&ordering->ready, cost(ordering, number), -number, number);
}

static int offer(Ordering *ordering, Py_ssize_t number) {
  const Rows *uses = &ordering->operands->uses;
  for (Py_ssize_t at = uses->starts[number]; at < uses->starts[number + 1]; at++) {
    Py_ssize_t name = uses->items[at];
    if (ordering->live.is_live[name]) continue;
    ordering->readers[++ordering->reader_count] = number;
    ordering->before[ordering->reader_count] = ordering->last_reader[name];
    ordering->last_reader[name] = ordering->reader_count;
  }
  return push_ready(ordering, number);
}

static int take_last(Ordering *ordering, Py_ssize_t number) {
  const Rows *uses = &ordering->operands->uses;
  ordering->is_taken[number] = 1;
  end_definitions(&ordering->live, ordering->operands, number);
  Py_ssize_t first = uses->starts[number], end = uses->starts[number + 1];
  for (Py_ssize_t at = first; at < end; at++) set_live(&ordering->live, uses->items[at], 1);
  for (Py_ssize_t at = first; at < end; at++) { /* nothing waits for those that were live */
    Py_ssize_t name = uses->items[at];
    for (Py_ssize_t item = ordering->last_reader[name]; item; item = ordering->before[item])
      if (!ordering->is_taken[ordering->readers[item]] && !push_ready(ordering, ordering->readers[item])) return 0;
    ordering->last_reader[name] = 0;
  }
  return 1;
}

static int begin_ordering(
    Ordering *ordering, const Operands *operands, const char *is_counted, Py_ssize_t names) {
  Py_ssize_t reads = operands->uses.starts[operands->count] + 1;
  ordering->operands = operands;
  ordering->is_taken = zeroed(operands->count, 1);
  ordering->last_reader = zeroed(operands->names, sizeof *ordering->last_reader);
  ordering->before = zeroed(reads, sizeof *ordering->before);
  ordering->readers = zeroed(reads, sizeof *ordering->readers);
  Py_ssize_t *seen = zeroed(operands->names, sizeof *seen);
  if (!new_rows(&ordering->fresh, operands->count) || PyErr_Occurred() ||
      !begin_live(&ordering->live, operands, is_counted, names))
    goto failed;
  for (Py_ssize_t n = 0; n < operands->count; n++) {
    for (Py_ssize_t at = operands->uses.starts[n]; at < operands->uses.starts[n + 1]; at++)
      seen[operands->uses.items[at]] = n + 1;
    begin_row(&ordering->fresh);
    for (Py_ssize_t at = operands->defs.starts[n]; at < operands->defs.starts[n + 1]; at++)
      if (seen[operands->defs.items[at]] != n + 1 && !add_item(&ordering->fresh, operands->defs.items[at])) goto failed;
    end_row(&ordering->fresh);
  }
  PyMem_Free(seen);
  return 1;
failed:
  PyMem_Free(seen);
  return 0;
}

static void end_ordering(Ordering *ordering) {
  free_rows(&ordering->fresh);
  PyMem_Free(ordering->live.is_live);
  PyMem_Free(ordering->ready.entries);
  PyMem_Free(ordering->is_taken);
  PyMem_Free(ordering->last_reader);
  PyMem_Free(ordering->before);
  PyMem_Free(ordering->readers);
}

/* The predecessors of each instruction, with duplicates, and how long each takes if there is a place for `latencies`;
 * false with an exception. */
static int find_predecessors(
    const DependenceGraph *graph, Py_ssize_t **starts, Py_ssize_t **predecessors, Py_ssize_t *latencies) {
  *starts = zeroed(graph->count + 2, sizeof **starts);
  *predecessors = zeroed(graph->starts[graph->count], sizeof **predecessors);
  if (*starts == NULL || *predecessors == NULL) return 0;
  for (Py_ssize_t n = 0; n < graph->count; n++) (*starts)[n + 2] = (*starts)[n + 1] + graph->predecessor_counts[n];
  for (Py_ssize_t n = 0; n < graph->count; n++)
    for (Py_ssize_t at = graph->starts[n]; at < graph->starts[n + 1]; at++) {
      Py_ssize_t place = (*starts)[graph->successors[at] + 1]++;
      (*predecessors)[place] = n;
      if (latencies != NULL) latencies[place] = graph->latencies[at];
    }
  return 1;
}

static PyObject *min_pressure_order(PyObject *self, PyObject *arguments) {
  const Operands *operands = (Operands *)self;
  PyObject *given;
  const char *is_counted;
  Py_ssize_t names;
  if (!PyArg_ParseTuple(arguments, "Oy#", &given, &is_counted, &names)) return NULL;
  const DependenceGraph *graph = (DependenceGraph *)given;
  Py_ssize_t count = operands->count, place = count;
  if (Py_TYPE(given) != dependence_graph_type || graph->count != count) {
    PyErr_SetString(PyExc_TypeError, "the dependence graph of the region is needed");
    return NULL;
  }
  PyObject *found = NULL;
  Ordering ordering = {0};
  Py_ssize_t *starts = NULL, *predecessors = NULL, *order = zeroed(count, sizeof *order);
  Py_ssize_t *behind = zeroed(count, sizeof *behind); /* the dependents that are not taken */
  if (order == NULL || behind == NULL || !find_predecessors(graph, &starts, &predecessors, NULL)) goto done;
  if (!begin_ordering(&ordering, operands, is_counted, names)) goto done;
  for (Py_ssize_t n = 0; n < count; n++) {
    behind[n] = graph->starts[n + 1] - graph->starts[n];
    if (!behind[n] && !offer(&ordering, n)) goto done;
  }
  while (ordering.ready.size) {
    Entry cheapest = pop(&ordering.ready);
    Py_ssize_t number = cheapest.item;
    if (ordering.is_taken[number]) continue;
    if (cost(&ordering, number) != cheapest.first) {
      if (!push_ready(&ordering, number)) goto done;
      continue;
    }
    order[--place] = number;
    if (!take_last(&ordering, number)) goto done;
    for (Py_ssize_t at = starts[number]; at < starts[number + 1]; at++)
      if (!--behind[predecessors[at]] && !offer(&ordering, predecessors[at])) goto done;
  }
  found = list_of_numbers(order + place, count - place);
done:
  end_ordering(&ordering);
  PyMem_Free(starts);
  PyMem_Free(predecessors);
  PyMem_Free(order);
  PyMem_Free(behind);
  return found;
}

#endif
