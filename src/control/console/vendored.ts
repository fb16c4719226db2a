/** The packages that the console's page may import, and nothing else of what is installed. */

/** A file of a package. */
interface VendoredFile {
  readonly package: string
  readonly file: string
  /** Name that the file gives to what it makes, for one that is no module: the module's default. */
  readonly exported?: string
}

/** Name below `/console/vendor/`, which modules import too, to the file of the package. */
export const vendored: ReadonlyMap<string, VendoredFile> = new Map<string, VendoredFile>([
  ['preact', { package: 'preact', file: 'dist/preact.mjs' }],
  ['preact/hooks', { package: 'preact', file: 'hooks/dist/hooks.mjs' }],
  ['htm', { package: 'htm', file: 'dist/htm.module.js' }],
  ['htm/preact', { package: 'htm', file: 'preact/index.module.js' }],
  [
    'lightweight-charts',
    { package: 'lightweight-charts', file: 'dist/lightweight-charts.standalone.production.mjs' },
  ],
  // Its module is three times as large.
  ['uplot', { package: 'uplot', file: 'dist/uPlot.iife.min.js', exported: 'uPlot' }],
  ['uplot.css', { package: 'uplot', file: 'dist/uPlot.min.css' }],
])
