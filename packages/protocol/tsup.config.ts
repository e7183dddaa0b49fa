import { defineConfig } from 'tsup';

// What is used of zod goes into the build: imported as a package it comes as ninety files, most of them translations, and
// doubles the time that a server adds to a start. Its types stay its own, and so does its registry, which is global; its licence is in src.
export default defineConfig({ noExternal: ['zod'] });
