import data from './data.json';
export default function () { console.log(data); }
