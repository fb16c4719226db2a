/** The packages that the console's page may import, and nothing else of what is installed. */

/** Name below `/console/vendor/`, which modules import too, to the file of the package. */
export const vendored: ReadonlyMap<string, { readonly package: string; readonly file: string }> = new Map([
  ['preact', { package: 'preact', file: 'dist/preact.mjs' }],
  ['preact/hooks', { package: 'preact', file: 'hooks/dist/hooks.mjs' }],
  ['htm', { package: 'htm', file: 'dist/htm.module.js' }],
  ['htm/preact', { package: 'htm', file: 'preact/index.module.js' }],
  [
    'lightweight-charts',
    { package: 'lightweight-charts', file: 'dist/lightweight-charts.standalone.production.mjs' },
  ],
  ['uplot', { package: 'uplot', file: 'dist/uPlot.esm.js' }],
  ['uplot.css', { package: 'uplot', file: 'dist/uPlot.min.css' }],
])
