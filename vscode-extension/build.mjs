// Bundles the extension and the scripts of its panels into dist/.
import { build } from 'esbuild';
import { existsSync, readdirSync } from 'node:fs';

const minify = process.argv.includes('--minify');
const common = { bundle: true, minify, sourcemap: !minify, logLevel: 'warning' };

await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  external: ['vscode'],
  format: 'cjs',
  platform: 'node',
  target: 'node20',
});
await build({
  ...common,
  entryPoints: readdirSync('media').filter((name) => /\.(ts|css)$/.test(name) && name !== 'page.ts').map((name) => `media/${name}`),
  outdir: 'dist/media',
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
});
if (existsSync('test/unit')) {
  await build({
    ...common,
    entryPoints: readdirSync('test/unit').map((name) => `test/unit/${name}`),
    outdir: 'dist/test',
    format: 'cjs',
    platform: 'node',
    target: 'node20',
  });
}
