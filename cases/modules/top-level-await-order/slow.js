import { order } from './order.js';
order.push('slow');
await null;
order.push('slow 2');
await new Promise((resolve) => resolve(1)).then(() => order.push('then'));
order.push('slow 3');
export const slow = true;
