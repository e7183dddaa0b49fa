import { catalogOf } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import express from 'express';

const catalog = catalogOf(
  [
    { name: 'expenses', url: '/agents/expenses' },
    { name: 'weather', url: '/agents/weather' },
  ],
  { publicUrl: 'https://corp.example' },
);
export const app = express();
app.all(/^\/\.well-known\/(ai-catalog\.json|api-catalog)$/, a2aExpress(catalog));
