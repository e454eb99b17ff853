// What `nest build APP` makes: dist/apps/APP/main.js with the workspace libraries bundled in and every npm package left
// outside, so that one folder of production dependencies serves all of them.
const path = require('node:path');

const isOurs = (request) => request.startsWith('.') || request.startsWith('@rollcall/') || path.isAbsolute(request);

module.exports = (defaults) => ({
  ...defaults,
  devtool: 'source-map',
  output: { ...defaults.output, path: path.resolve(__dirname, '../../dist') },
  // Stack traces and Nest's error texts name classes; and NODE_ENV is read when the process runs, not when it was built.
  optimization: { minimize: false, nodeEnv: false },
  externalsPresets: { node: true },
  // `module-import` keeps `import()` lazy, so a package that only one mode needs is not loaded in the others.
  externals: [
    ({ request }, callback) => (!request || isOurs(request) ? callback() : callback(null, `module-import ${request}`)),
  ],
  module: {
    // Left alone, `import.meta.url` would become the path of the source on the machine that built it.
    parser: { javascript: { importMeta: false } },
    rules: [
      {
        test: /\.ts$/,
        type: 'javascript/esm',
        exclude: /node_modules/,
        loader: 'builtin:swc-loader',
        options: {
          jsc: {
            parser: { syntax: 'typescript', decorators: true },
            transform: { legacyDecorator: true, decoratorMetadata: true },
            target: 'es2022',
            keepClassNames: true,
          },
          sourceMaps: true,
        },
      },
    ],
  },
  resolve: {
    extensions: ['.ts', '.js'],
    extensionAlias: { '.js': ['.ts', '.js'] },
    conditionNames: ['source', 'node', 'import', 'default'],
  },
});
