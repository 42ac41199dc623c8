import common, { part } from './common.js';
const es = require('./es.js');
export default function () { console.log(common.whole, part, es.default, es.named); }
