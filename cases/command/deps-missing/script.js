import './none.js';
export default function () {}
