import { order } from './order.js';
order.push('quick');
await null;
order.push('quick 2');
