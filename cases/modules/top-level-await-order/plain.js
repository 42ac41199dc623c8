import { order } from './order.js';
order.push('plain');
