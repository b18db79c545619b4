# What a long call tells while it works, and how it is ended.

mutable struct Watch
    tell::Any
    done::Int64  # steps of the calls before
    total::Int64 # steps of all calls; 0: of this one
    error::Any   # what must not leave the callback
end

# Called by the library, on the thread of the call.
function advance(user::Ptr{Cvoid}, done::Int64, total::Int64)::Int32
    w = unsafe_pointer_to_objref(user)::Watch
    w.error === nothing || return 1
    try
        return w.tell(w.done + done, w.total == 0 ? total : w.total) === false
    catch e
        w.error = e
        return 1
    end
end

# Calls f with the members of an options struct that have a function of the user called; what that throws comes out.
watched(f, ::Nothing, total=0) = f(NamedTuple(), nothing)
function watched(f, tell, total=0)
    w = Watch(tell, 0, total, nothing)
    GC.@preserve w begin
        members = (progress=@cfunction(advance, Int32, (Ptr{Cvoid}, Int64, Int64)), user=pointer_from_objref(w))
        try
            return f(members, w)
        catch
            w.error === nothing ? rethrow() : throw(w.error)
        end
    end
end
