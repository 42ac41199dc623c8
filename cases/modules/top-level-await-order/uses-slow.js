import { order } from './order.js';
import { slow } from './slow.js';
order.push(`uses slow ${slow}`);
