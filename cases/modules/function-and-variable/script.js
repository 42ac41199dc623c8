var name = 1;
function name() {}
export default function () {}
