import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Counters, histograms and gauges of one registry, cheap enough for every request. */
export interface Instruments {
  registry: Registry;
  /** A counter. The returned function takes the labels' values in the order of their names. */
  count(name: string, help: string, ...labelNames: string[]): (labels: readonly string[], more?: number) => void;
  /** A histogram, in the unit of its name's suffix. */
  measure(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: string[]
  ): (labels: readonly string[], value: number) => void;
  /** A gauge with a label that rises and falls. */
  level(name: string, help: string, labelName: string): (label: string, change: number) => void;
  /** A gauge whose value is read when metrics are collected. */
  gauge(name: string, help: string, read: () => number): void;
}

type Labels = Record<string, string>;

interface Branch<T> {
  leaf: T | undefined;
  next: Map<string, Branch<T>>;
}

/** One value for each combination of labels. A tree, because a joined text would be hashed anew by every request. */
function byLabels<T>(names: readonly string[], make: (labels: Labels) => T): (values: readonly string[]) => T {
  const root: Branch<T> = { leaf: undefined, next: new Map() };
  return (values) => {
    let branch = root;
    for (const value of values) {
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { leaf: undefined, next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    branch.leaf ??= make(Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])));
    return branch.leaf;
  };
}

/** A plain number for each combination of labels. The registry reads them at a scrape: requests are many, scrapes few. */
function figures(labelNames: readonly string[]) {
  const each: { labels: Labels; value: number }[] = [];
  const of = byLabels(labelNames, (labels) => {
    const figure = { labels, value: 0 };
    each.push(figure);
    return figure;
  });
  return { each, of };
}

/**
 * `worker`: the index of this process behind a shared port; null: the only one. Figures of different processes under
 * one name would look like counters that run backwards when one of them is replaced.
 */
export function createInstruments(worker: number | null): Instruments {
  const registry = new Registry();
  if (worker !== null) registry.setDefaultLabels({ worker: String(worker) });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    count(name, help, ...labelNames) {
      const { each, of } = figures(labelNames);
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const { labels, value } of each) this.inc(labels, value);
        },
      });
      return (labels, more = 1) => {
        of(labels).value += more;
      };
    },
    measure(name, help, buckets, ...labelNames) {
      const histogram = new Histogram({ name, help, buckets, labelNames, registers });
      const of = byLabels(labelNames, (labels) => histogram.labels(labels));
      return (labels, value) => of(labels).observe(value);
    },
    level(name, help, labelName) {
      const { each, of } = figures([labelName]);
      new Gauge({
        name,
        help,
        labelNames: [labelName],
        registers,
        collect() {
          for (const { labels, value } of each) this.set(labels, value);
        },
      });
      return (label, change) => {
        of([label]).value += change;
      };
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
}
