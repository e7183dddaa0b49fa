/**
 * The packages that hold a Node.js say their platform as text, where package managers expect lists: without them, the one
 * for Windows would be installed everywhere.
 */
const readPackage = (manifest) => {
  if (!/^node-(bin-)?(darwin|linux|win)-/.test(manifest.name)) return manifest;
  return { ...manifest, os: [manifest.os].flat(), cpu: [manifest.cpu].flat() };
};

/** What is published has no sources: neither has its manifest the condition that leads to them. */
const beforePacking = (manifest) =>
  JSON.parse(JSON.stringify(manifest, (key, value) => (key === '@batonjs/source' ? undefined : value)));

module.exports = { hooks: { readPackage, beforePacking } };
