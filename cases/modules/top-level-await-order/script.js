import './slow.js';
import './plain.js';
import './quick.js';
import './uses-slow.js';
const order = globalThis.order;
order.push('entry');
await null;
order.push('entry continues');
export default function () { console.log(order.join(', ')); }
