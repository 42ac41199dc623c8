import './broken.js';
export default function () {}
