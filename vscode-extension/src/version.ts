/** Versions of the server. */

/** The oldest server that supports everything this extension uses. */
export const LEAST_VERSION = '0.2.0';

/** Whether version `one` is older than `other`; parts that are not numbers count as 0. */
export function isOlder(one: string, other: string): boolean {
  const [first, second] = [numbers(one), numbers(other)];
  for (let part = 0; part < Math.max(first.length, second.length); part++) {
    const difference = (first[part] ?? 0) - (second[part] ?? 0);
    if (difference !== 0) {
      return difference < 0;
    }
  }
  return false;
}

function numbers(version: string): number[] {
  return version.split(/[.+-]/).map((part) => Number.parseInt(part, 10) || 0);
}
