/** Versions of the server. */

/** The oldest server that has everything this extension asks for. */
export const LEAST_VERSION = '0.2.0';

/** Whether version `one` comes before `other`; what is no number counts as 0. */
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
