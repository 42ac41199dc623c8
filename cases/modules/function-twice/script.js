function twice() { return 1; }
function twice() { return 2; }
export function exported() { return 3; }
function exported() { return 4; }
export default function () { console.log(twice(), exported()); }
