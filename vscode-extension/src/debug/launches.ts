/** Finds launches in texts. Independent of the editor. */

export interface LaunchComment {
  /** Counts from 1. */
  line: number;
  /** What comes after `ptx-run:`. */
  words: string;
}

/** The launch comments of a PTX file. */
export function launchComments(text: string): LaunchComment[] {
  return text.split('\n').flatMap((one, line) => {
    const words = /\/\/[ \t]*ptx-run:(.*)/.exec(one)?.[1]?.trim();
    return words ? [{ line: line + 1, words }] : [];
  });
}

/** The line, from 0, at which a launch file names its kernel's file; undefined if a TOML file is no launch file. */
export function firstLine(text: string): number | undefined {
  const lines = text.split('\n');
  const table = lines.findIndex((line) => /^\s*\[/.test(line) && !/^\s*\[(arguments|out)\]/.test(line));
  const has = (key: RegExp) => lines.findIndex((line) => key.test(line));
  const file = has(/^\s*file\s*=\s*["'].*["']/);
  return table < 0 && file >= 0 && has(/^\s*(grid|block)\s*=/) >= 0 ? file : undefined;
}
