import ProfileModel

extension Profile {
    /// The function of a stack to show first: the innermost of the developer's own. If there is
    /// none: the innermost with a name outside of the kernel, the C library and the dynamic linker;
    /// else one without a name there; else the innermost outside the kernel.
    ///
    /// - Parameter stack: outermost first.
    /// - Returns: nil: the stack is empty.
    package func place(in stack: [FrameID]) -> FrameID? {
        func innermost(_ isWanted: (Function) -> Bool) -> FrameID? {
            stack.last { isWanted(frames.function(of: $0)) }
        }
        return innermost(\.isOwn) ?? innermost { !$0.isCommon && !$0.isUnnamed }
            ?? innermost { !$0.isCommon } ?? innermost { !$0.isKernel } ?? stack.last
    }

    /// The function with most of the time of a heaviest stack: the innermost that still has half of
    /// the outermost one's time. The developer's own come first, then those with a telling name,
    /// even if it is only their library's.
    ///
    /// - Returns: nil: no function has a telling name.
    package func centre(of stack: HeaviestStack) -> FrameID? {
        guard let first = stack.entries.first else { return nil }
        let half = stack.weight.of(first.total).nanoseconds / 2
        let entries = Array(
            stack.entries.prefix { stack.weight.of($0.total).nanoseconds >= half })
        let libraries = unnamedLibraries(in: entries.map(\.frame))
        func innermost(_ isWanted: (Int, Function) -> Bool) -> FrameID? {
            entries.indices.last {
                !frames[entries[$0].frame].isInlined
                    && isWanted($0, frames.function(of: entries[$0].frame))
            }.map { entries[$0].frame }
        }
        return innermost { $1.isOwn } ?? innermost { libraries.contains($0) || $1.isTelling }
    }

    /// The places where a stack enters a library through a function without a name: there the
    /// library's name is all that is known. The names of the program's own file, the C library and
    /// the kernel tell nothing.
    ///
    /// - Parameter stack: outermost first.
    /// - Returns: positions in it.
    package func unnamedLibraries(in stack: [FrameID]) -> Set<Int> {
        let program = programModule
        var result: Set<Int> = []
        var caller: ModuleIndex?
        for (position, frame) in stack.enumerated() {
            let function = frames.function(of: frame)
            if function.isUnnamed, !function.isCommon, function.module.contains(".so"),
                let module = function.moduleIndex, module != program, module != caller
            {
                result.insert(position)
            }
            caller = function.moduleIndex
        }
        return result
    }
}

extension Function {
    /// Whether its name is telling: it is neither a function that every program calls, nor
    /// interpreter code between two functions of a script.
    package var isTelling: Bool { !isCommon && !isUnnamed && !isNoStack && !isEvaluator }

    /// Whether an interpreter evaluates a script function in it, or goes from one to the next.
    package var isEvaluator: Bool {
        Self.evaluators.contains { file, names in
            module.hasPrefix(file) && names.contains(where: name.hasPrefix)
        }
    }

    /// By the beginning of a file's name; functions have the names of the interpreters' sources.
    private static let evaluators: [(file: String, names: [String])] = [
        ("bash", ["execute_", "reader_loop", "parse_and_execute"]),
        (
            "libR.",
            [
                "Rf_eval", "Rf_applyClosure", "R_execClosure", "bcEval", "R_ReplDLLdo1",
                "Rf_ReplIteration",
            ]
        ),
        (
            "libjvm",
            ["JavaCalls::", "JavaThread::", "thread_native_entry", "jni_invoke", "jni_Call"]
        ),
        ("libjli", ["JavaMain", "CallJavaMain", "ThreadJavaMain"]),
        ("liboctinterp", ["octave::tree_evaluator::", "octave::tree_"]),
        ("libperl", ["Perl_runops", "Perl_pp_", "S_run_body", "perl_run"]),
        (
            "libpython",
            ["_PyEval_", "PyEval_", "_PyObject_", "PyObject_", "_PyFunction_", "PyVectorcall_"]
        ),
        ("libruby", ["vm_", "rb_vm_", "rb_ec_", "rb_funcall", "rb_call", "ruby_run", "ruby_exec"]),
        ("lua", ["luaV_", "luaD_", "lua_pcall", "lua_call"]),
        ("node", ["Builtins_", "v8::internal::Execution::", "v8::Function::Call"]),
        ("perl", ["Perl_runops", "Perl_pp_", "S_run_body", "perl_run"]),
        ("php", ["execute_ex", "zend_execute", "zend_call", "php_execute"]),
        (
            "python",
            ["_PyEval_", "PyEval_", "_PyObject_", "PyObject_", "_PyFunction_", "PyVectorcall_"]
        ),
        ("ruby", ["vm_", "rb_vm_", "rb_ec_", "rb_funcall", "rb_call", "ruby_run", "ruby_exec"]),
    ]

    /// Whether it belongs to the code that every program calls, or to the kernel, so that it tells
    /// little.
    fileprivate var isCommon: Bool {
        let prefixes = ["libc.", "libc-", "libpthread", "libdl", "ld-linux", "ld-musl", "ld."]
        return isKernel || moduleIndex == nil
            || prefixes.contains { module.hasPrefix($0) }
            || Self.entries.contains(name)
    }

    /// The functions in which programs begin: naming one of them would tell nothing.
    private static let entries: Set<String> = [
        "_start", "__libc_start_main", "main", "[truncated]",
    ]
}
