/** Where the threads of the service begin, each with its file's name for an argument: an import in that file itself would come too late. */
import "../runtime/own-files.ts";

await import(`./${process.argv[2]}.ts`);
