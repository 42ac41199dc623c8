import './bad.js';
export default function () { console.log('never'); }
