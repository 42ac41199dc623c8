import { check } from 'k6';
export * from './c.js';
